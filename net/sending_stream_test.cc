#include "net/sending_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "net/listener.h"
#include "net/testing/stream_fixture.h"

namespace bspnow {
namespace {

/// Stands between sender and receiver: hands bytes on in parts of random size, flips bits, resets
/// connections, goes silent, or swallows what is sent.
class Proxy {
 public:
  Proxy(EventLoop& loop, const SocketAddress& target, unsigned seed)
      : loop_(loop), target_(target), random_(seed) {
    auto listener =
        Listener::Create(loop, *Resolve({"127.0.0.1", 0}), SocketOptions{.buffer_bytes = 0},
                         [this](Accepted accepted) { OnAccepted(std::move(accepted)); });
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }
  ~Proxy() { CutAll(); }

  const SocketAddress& address() const { return listener_->address(); }

  void CutAll() {
    for (auto& [number, link] : links_) Forget(link);
    links_.clear();
  }

  std::uint32_t one_in_cut = 0;  ///< Of the parts that are handed on; 0: none.
  std::uint32_t one_in_flip = 0;
  bool silent = false;
  std::uint64_t pass_bytes_max = UINT64_MAX;  ///< Of a connection, to the receiver.
  std::size_t part_bytes_max = 100'000;

 private:
  struct Link {
    UniqueFd near, far;
    std::uint64_t passed_bytes = 0;  ///< To the receiver.
  };

  void OnAccepted(Accepted accepted) {
    const int number = ++last_;
    Link& link = links_[number];
    link.near = std::move(accepted.fd);
    link.far = *BeginConnect(target_, SocketOptions{.buffer_bytes = 0});
    loop_.OnReadable(link.near.get(), [this, number] { HandOn(number, 0); });
    loop_.OnReadable(link.far.get(), [this, number] { HandOn(number, 1); });
  }

  void HandOn(int number, int direction) {
    const auto found = links_.find(number);
    if (found == links_.end()) return;
    const int from = direction == 0 ? found->second.near.get() : found->second.far.get();
    const int to = direction == 0 ? found->second.far.get() : found->second.near.get();
    std::vector<char> part(1 + random_() % part_bytes_max);
    const ssize_t n = recv(from, part.data(), part.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0 || Chance(one_in_cut)) {
      Forget(found->second);
      links_.erase(found);
      return;
    }
    if (silent) return;
    std::uint64_t& passed = found->second.passed_bytes;
    if (direction == 0 && passed + static_cast<std::uint64_t>(n) > pass_bytes_max) return;
    if (direction == 0) passed += static_cast<std::uint64_t>(n);
    if (direction == 0 && Chance(one_in_flip)) part[random_() % n] ^= 1 << random_() % 8;
    for (ssize_t sent = 0; sent < n;) {  // The receiver reads on this same loop: never for long.
      const ssize_t m = send(to, part.data() + sent, n - sent, MSG_NOSIGNAL);
      if (m < 0 && errno != EAGAIN && errno != ENOTCONN) return;
      if (m < 0) return HandOnLater(number, direction, {part.begin() + sent, part.begin() + n});
      sent += m;
    }
  }

  void HandOnLater(int number, int direction, std::vector<char> rest) {
    Link& link = links_.at(number);
    const int from = direction == 0 ? link.near.get() : link.far.get();
    const int to = direction == 0 ? link.far.get() : link.near.get();
    loop_.StopReading(from);
    loop_.OnWritable(to, [this, number, direction, from, to, rest = std::move(rest)]() mutable {
      const ssize_t m = send(to, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (m > 0) rest.erase(rest.begin(), rest.begin() + m);
      if (m > 0 && !rest.empty()) return;
      loop_.StopWriting(to);
      loop_.OnReadable(from, [this, number, direction] { HandOn(number, direction); });
    });
  }

  void Forget(Link& link) {
    loop_.Forget(link.near.get());
    loop_.Forget(link.far.get());
  }

  bool Chance(std::uint32_t one_in) { return one_in != 0 && random_() % one_in == 0; }

  EventLoop& loop_;
  SocketAddress target_;
  std::mt19937 random_;
  std::unique_ptr<Listener> listener_;
  std::map<int, Link> links_;
  int last_ = 0;
};

class SendingStreamTest : public StreamTest {
 protected:
  std::unique_ptr<SendingStream> NewSender(const SocketAddress& address) {
    return std::make_unique<SendingStream>(
        loop_, resolver_,
        SendingStreamOptions{.self = kSender,
                             .incarnation = 11,
                             .target = kReceiver,
                             .target_name = "w2",
                             .address = address.host_port(),
                             .socket = SocketOptions{},
                             .stall_ms = 200,
                             .unreachable_ms = unreachable_ms_,
                             .integrity = integrity_},
        SendingStreamEvents{
            .delivered = [this](JobId, std::uint64_t token) { delivered_.push_back(token); },
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
  Resolver resolver_{loop_, [this](const HostPort& host_port) -> Resolver::Answer {
                       if (addresses_.empty()) return ResolveAll(host_port);
                       return addresses_;
                     }};
  std::map<std::uint64_t, std::string> texts_;
  std::vector<std::uint64_t> delivered_;
  std::map<std::uint64_t, std::string> broken_;
  std::uint64_t unreachable_ms_ = 60'000;
  Integrity integrity_ = Integrity::kChecksums;
};

TEST_F(SendingStreamTest, ConnectsAtTheFirstFrameAndDeliversAll) {
  auto sender = NewSender(receiver_.address());
  EXPECT_FALSE(sender->connected());
  for (std::uint64_t i = 1; i <= 300; ++i) sender->Send(Numbered(i, i * 3000 % 100'000));
  RunUntil([&] { return delivered_.size() == 300; });
  ExpectAll(300);
  EXPECT_TRUE(std::is_sorted(delivered_.begin(), delivered_.end()));
  EXPECT_EQ(sender->retained_frames(), 0u);
  EXPECT_EQ(sender->counts().frames, 300u);
  EXPECT_EQ(sender->counts().resent_frames, 0u);
  EXPECT_EQ(sender->counts().connects, 1u);
}

TEST_F(SendingStreamTest, CorkedFramesWait) {
  auto sender = NewSender(receiver_.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_.size() == 1; });
  const std::uint64_t before = sender->counts().frames;
  sender->Cork();
  for (std::uint64_t i = 2; i <= 10; ++i) sender->Send(Numbered(i, 10));
  EXPECT_EQ(sender->counts().frames, before);
  sender->Uncork();
  EXPECT_EQ(sender->counts().frames, before + 9);
}

// A process waits for them, to fill their memory again.
TEST_F(SendingStreamTest, FramesWhoseDeliveryIsAwaitedAreAcknowledgedAtOnce) {
  constexpr std::uint64_t kFrames = 100;
  auto sender = NewSender(receiver_.address());
  const std::uint64_t start_ns = NowNs();
  for (std::uint64_t i = 1; i <= kFrames; ++i) {
    sender->Send(Numbered(i, 10));
    RunUntil([&] { return delivered_.size() == i; });
  }
  EXPECT_LT(NowNs() - start_ns, kFrames * 10 * kNsPerMs) << "an Ack that nobody awaits: 20 ms";
}

TEST_F(SendingStreamTest, DroppedJobIsNotLookedAtAgainAndTheOtherGoesOn) {
  auto sender = NewSender(receiver_.address());
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return sender->connected(); });
  for (std::uint64_t i = 3; i <= 60; ++i) sender->Send(Numbered(i, 1'000'000));
  EXPECT_GT(sender->unsent_bytes(), 0u);
  sender->DropJob(JobId{1});
  for (auto& [number, text] : texts_) {
    if (number % 2 == 0) std::string().swap(text);  // Freed: the address sanitizer watches.
  }
  RunUntil([&] { return !delivered_.empty() && delivered_.back() == 59; });
  for (const auto& came : sink_.came) {
    if (came.header.job == 2) {
      EXPECT_TRUE(came.data == texts_[came.piece.chunk_offset]);
    }
  }
  EXPECT_EQ(sender->retained_frames(), 0u);
}

TEST_F(SendingStreamTest, PrunedSuperstepsAreNotSentAgain) {
  auto sender = NewSender(receiver_.address());
  receiver_.SetSelf(WorkerId{99});  // Nobody is at home yet.
  for (std::uint64_t i = 1; i <= 10; ++i) sender->Send(Numbered(i, 10));
  sender->Prune(JobId{1}, Epoch{}, Superstep{6});
  sender->Prune(JobId{2}, Epoch{}, Superstep{6});
  receiver_.SetSelf(kReceiver);
  RunUntil([&] { return delivered_.size() == 4; });
  EXPECT_EQ(sink_.came.front().piece.chunk_offset, 7u);
}

TEST_F(SendingStreamTest, FrameThatIsRefusedAgainAndAgainBreaksItsJob) {
  auto sender = NewSender(receiver_.address());
  sink_.verdict = FrameFault::kMalformed;
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return !broken_.empty(); });
  EXPECT_EQ(broken_[1], "a batch for worker w2: closed by the receiver: malformed");
  EXPECT_EQ(sink_.came.size(), 5u);
  EXPECT_EQ(sender->retained_frames(), 0u);
}

TEST_F(SendingStreamTest, KeepsTryingUntilSomebodyListens) {
  const SocketAddress address = receiver_.address();
  auto sender = NewSender(*Resolve({"127.0.0.1", 1}));
  sender->Send(Numbered(1, 10));
  bool waited = false;
  loop_.AddTimer(100, [&] { waited = true; });
  RunUntil([&] { return waited; });
  EXPECT_FALSE(sender->connected());
  EXPECT_TRUE(broken_.empty());
  sender->SetAddress(address.host_port());
  RunUntil([&] { return delivered_.size() == 1; });
}

TEST_F(SendingStreamTest, AllAddressesOfANameAreTried) {
  addresses_ = {*Resolve({"127.0.0.1", 1}), *Resolve({"127.0.0.1", 2}), receiver_.address()};
  auto sender = NewSender(receiver_.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_.size() == 1; });
}

TEST_F(SendingStreamTest, SilentConnectionIsReplaced) {
  Proxy proxy(loop_, receiver_.address(), 1);
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_.size() == 1; });
  proxy.silent = true;
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return sender->counts().stalls == 2; });  // Also one that never answers Hello.
  proxy.silent = false;
  RunUntil([&] { return delivered_.size() == 2; });
  ExpectAll(2);
}

TEST_F(SendingStreamTest, WorkerThatStaysSilentBreaksTheJobsThatWaitForIt) {
  Proxy proxy(loop_, receiver_.address(), 1);
  unreachable_ms_ = 1000;
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(1, 10));  // Of job 2.
  RunUntil([&] { return delivered_.size() == 1; });
  proxy.silent = true;
  sender->Send(Numbered(2, 10));  // Of job 1.
  RunUntil([&] { return !broken_.empty(); });
  EXPECT_EQ(broken_.size(), 1u);
  EXPECT_EQ(broken_[1], "worker w2 cannot be reached at " + proxy.address().ToString() +
                            " for 1 s: no sign of life");
  EXPECT_GT(sender->counts().stalls, 3u);
  proxy.silent = false;
  sender->Send(Numbered(3, 10));
  RunUntil([&] { return delivered_.size() == 3; });
}

TEST_F(SendingStreamTest, WorkerThatWelcomesAndSwallowsAllIsUnreachable) {
  Proxy proxy(loop_, receiver_.address(), 1);
  proxy.pass_bytes_max = sizeof(FrameHeader) + sizeof(HelloBody);
  unreachable_ms_ = 1000;
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return !broken_.empty(); });
  EXPECT_GT(sender->counts().connects, 2u);
  EXPECT_EQ(broken_[1], "worker w2 cannot be reached at " + proxy.address().ToString() +
                            " for 1 s: no frame is acknowledged");
  proxy.pass_bytes_max = UINT64_MAX;
  RunUntil([&] { return delivered_.size() == 1; });
}

TEST_F(SendingStreamTest, TimeWithoutAFrameIsNoSilence) {
  Proxy proxy(loop_, receiver_.address(), 1);
  unreachable_ms_ = 300;
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_.size() == 1; });
  bool later = false;
  loop_.AddTimer(400, [&] { later = true; });
  RunUntil([&] { return later; });
  proxy.CutAll();
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return delivered_.size() == 2; });
  EXPECT_TRUE(broken_.empty());
}

TEST_F(SendingStreamTest, SilenceCountsAnewWhenSomethingWasHeard) {
  Proxy proxy(loop_, receiver_.address(), 1);
  unreachable_ms_ = 2000;
  auto sender = NewSender(proxy.address());
  for (std::uint64_t i = 1; i <= 10; ++i) {
    proxy.silent = true;
    sender->Send(Numbered(i, 10));
    RunUntil([&] { return sender->counts().stalls >= i; });
    proxy.silent = false;
    RunUntil([&] { return delivered_.size() == i; });
  }
  bool late = false;
  loop_.AddTimer(500, [&] { late = true; });
  RunUntil([&] { return late; });
  EXPECT_TRUE(broken_.empty());
}

class DisturbedStreamTest : public SendingStreamTest,
                            public testing::WithParamInterface<unsigned> {};

TEST_P(DisturbedStreamTest, EachFrameArrivesOnceAndInOrder) {
  std::mt19937 random(GetParam());
  Proxy proxy(loop_, receiver_.address(), GetParam());
  proxy.one_in_cut = 20;
  proxy.one_in_flip = GetParam() % 2 == 0 ? 0 : 100;
  if (GetParam() % 4 == 0) integrity_ = Integrity::kTcp;  // Nothing is flipped.
  proxy.part_bytes_max = 5000;
  auto sender = NewSender(proxy.address());
  constexpr std::uint64_t kFrames = 200;
  for (std::uint64_t i = 1; i <= kFrames; ++i) {
    sender->Send(Numbered(i, random() % (1u << random() % 16)));
    if (random() % 10 == 0) loop_.RunOnce();
  }
  RunUntil([&] { return sink_.came.size() >= kFrames / 2; });
  proxy.one_in_cut = proxy.one_in_flip = 0;
  RunUntil([&] { return delivered_.size() == kFrames; });
  ExpectAll(kFrames);
  EXPECT_TRUE(std::is_sorted(delivered_.begin(), delivered_.end()));
  EXPECT_GT(sender->counts().breaks + sender->counts().stalls, 0u);
  EXPECT_TRUE(broken_.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, DisturbedStreamTest, testing::Range(0u, 12u));

TEST_F(SendingStreamTest, SingleBytesMakeNoDifference) {
  Proxy proxy(loop_, receiver_.address(), 3);
  proxy.part_bytes_max = 1;
  auto sender = NewSender(proxy.address());
  for (std::uint64_t i = 1; i <= 6; ++i) sender->Send(Numbered(i, i == 4 ? 20'000 : 10));
  RunUntil([&] { return delivered_.size() == 6; });
  ExpectAll(6);
  EXPECT_EQ(sender->counts().stalls, 0u);
}

}  // namespace
}  // namespace bspnow
