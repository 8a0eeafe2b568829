// For tests of what a sender does: it and its receiver on one loop, and frames that show which they
// are.
#ifndef NET_SENDING_FIXTURE_H_
#define NET_SENDING_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/resolver.h"
#include "net/testing/stream_fixture.h"

namespace bspnow {

class SendingStreamTest : public StreamTest {
 protected:
  std::unique_ptr<SendingStream> NewSender(const SocketAddress& address) {
    SendingStreamOptions options = OptionsOfSender(key_, address);
    options.stall_ms = stall_ms_;
    options.unreachable_ms = unreachable_ms_;
    options.integrity = integrity_;
    return std::make_unique<SendingStream>(
        loop_, resolver_, std::move(options),
        SendingStreamEvents{
            .delivered =
                [this](JobId, GroupId group, std::uint64_t token) {
                  delivered_.push_back(token);
                  groups_.push_back(group);
                },
            .job_broken = [this](JobId job, const std::string& why) { broken_[Value(job)] = why; },
            .note = nullptr});
  }

  // A frame of job 1 or 2 whose bytes show its number, small or large, owned or by reference.
  OutgoingBatch Numbered(std::uint64_t number, std::size_t bytes) {
    OutgoingBatch batch;
    batch.job = JobId{1 + number % 2};
    batch.superstep = Superstep{number};
    batch.piece.chunk_offset = number;
    batch.token = number;
    std::string& text = texts_[number];
    text.assign(bytes, static_cast<char>('a' + number % 26));
    const auto data = std::as_bytes(std::span(text));
    const std::size_t owned = number % 2 == 0 ? bytes : number % 3 == 0 ? 0 : bytes / 3;
    batch.owned.assign(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(owned));
    if (number % 2 == 1) batch.pieces.push_back({text.data() + owned, bytes - owned});
    return batch;
  }

  void ExpectAll(std::uint64_t count) {
    ASSERT_EQ(sink_.came.size(), count);
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(sink_.came[i].piece.chunk_offset, i + 1);
      EXPECT_TRUE(sink_.came[i].data == texts_[i + 1]) << i;
    }
  }

  std::vector<SocketAddress> addresses_;  ///< If there are any, those of all names.
  Resolver::Lookup lookup_ = ResolveAll;
  Resolver resolver_{loop_, [this](const HostPort& host_port) -> Resolver::Answer {
                       if (addresses_.empty()) return lookup_(host_port);
                       return addresses_;
                     }};
  std::map<std::uint64_t, std::string> texts_;
  std::vector<std::uint64_t> delivered_;
  std::vector<GroupId> groups_;  ///< The same.
  std::map<std::uint64_t, std::string> broken_;
  StreamKey key_ = kStreamKey;
  std::uint64_t stall_ms_ = kSoonMs;
  std::uint64_t unreachable_ms_ = 60'000;
  Integrity integrity_ = Integrity::kChecksums;
};

}  // namespace bspnow

#endif  // NET_SENDING_FIXTURE_H_
