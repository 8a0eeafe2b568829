// Frames of a job on streams that carry those of many: they are taken from who has its key.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "net/testing/sending_fixture.h"
#include "net/testing/stream_proxy.h"

namespace bspnow {
namespace {

constexpr JobId kJob{7};  // The sink knows its key, and offers a place.

class JobProofTest : public SendingStreamTest {
 protected:
  OutgoingBatch OfJob(std::uint64_t number, const StreamKey& key, std::size_t bytes = 1000) {
    OutgoingBatch batch = Numbered(number, bytes);
    batch.job = kJob;
    batch.epoch = Epoch{1};
    batch.job_key = key;
    return batch;
  }
  std::uint64_t Refused() const {
    return receiver_.counts().faults[static_cast<std::size_t>(FrameFault::kBadJobProof)];
  }
  void ExpectRefused(const StreamKey& key) {
    auto sender = NewSender(receiver_.address());
    sender->Send(OfJob(1, key));
    RunUntil([&] { return !broken_.empty(); });
    EXPECT_EQ(broken_[Value(kJob)],
              "a batch for worker w2: closed by the receiver: does not prove the key of the job");
    EXPECT_TRUE(sink_.came.empty());
    EXPECT_EQ(sink_.places, 0) << "nor is it written to the memory of the job";
    EXPECT_EQ(Refused(), 5u);
    const auto refused = std::count_if(facts_.begin(), facts_.end(), [](const std::string& fact) {
      return fact.starts_with("event=stream_refused worker=1 ") &&
             fact.ends_with("reason=\"does not prove the key of the job\"");
    });
    EXPECT_EQ(refused, 5);
  }
};

TEST_F(JobProofTest, FramesAreTakenFromWhoHasTheKey) {
  auto sender = NewSender(receiver_.address());
  for (std::uint64_t i = 1; i <= 10; ++i) sender->Send(OfJob(i, kJobKey));
  RunUntil([&] { return delivered_.size() == 10; });
  ExpectAll(10);
  EXPECT_EQ(Refused(), 0u);
  EXPECT_EQ(sender->counts().frames, 10u) << "the proof is no Batch";
}

// A worker that hosts no process of the job has the cluster's key.
TEST_F(JobProofTest, NoFrameIsTakenWithoutAProof) { ExpectRefused(StreamKey()); }

TEST_F(JobProofTest, NoFrameIsTakenAfterAProofOfAnotherKey) { ExpectRefused(kOtherStreamKey); }

TEST_F(JobProofTest, OtherJobsFramesGoOnAfterThoseThatAreRefused) {
  auto sender = NewSender(receiver_.address());
  sender->Send(OfJob(1, kOtherStreamKey));
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return delivered_.size() == 1; });
  EXPECT_EQ(sink_.came.size(), 1u);
  EXPECT_EQ(sink_.came[0].header.job, 1u);
}

TEST_F(JobProofTest, EachConnectionBeginsWithAProof) {
  stall_ms_ = kNoStallMs;
  Proxy proxy(loop_, receiver_.address(), 1);
  auto sender = NewSender(proxy.address());
  for (std::uint64_t i = 1; i <= 40; ++i) sender->Send(OfJob(i, kJobKey, 100'000));
  for (std::size_t came = 1; came <= 4; ++came) {
    RunUntil([&] { return sink_.came.size() >= came; });
    proxy.CutAll();
    sender->ConnectAnew("as if it saw that");
  }
  RunUntil([&] { return delivered_.size() == 40; });
  ExpectAll(40);
  EXPECT_GE(sender->counts().connects, 4u);
  EXPECT_EQ(Refused(), 0u);
}

// The key that was proven is an epoch's.
TEST_F(JobProofTest, EachEpochIsProven) {
  auto sender = NewSender(receiver_.address());
  sender->Send(OfJob(1, kJobKey));
  RunUntil([&] { return delivered_.size() == 1; });
  OutgoingBatch next = OfJob(2, kJobKey);
  next.epoch = Epoch{2};
  sender->Send(std::move(next));
  RunUntil([&] { return delivered_.size() == 2; });
  OutgoingBatch guessed = OfJob(3, kOtherStreamKey);
  guessed.epoch = Epoch{3};
  sender->Send(std::move(guessed));
  RunUntil([&] { return !broken_.empty(); });
  EXPECT_EQ(sink_.came.size(), 2u);
}

// Whose memory is gone may come again, with another key.
TEST_F(JobProofTest, WhatWasProvenGoesWithTheJob) {
  auto sender = NewSender(receiver_.address());
  sender->Send(OfJob(1, kJobKey));
  RunUntil([&] { return delivered_.size() == 1; });
  receiver_.Unplace(kJob);
  sender->Send(OfJob(2, kJobKey));
  RunUntil([&] { return Refused() == 1; });
  RunUntil([&] { return delivered_.size() == 2; });  // By the next connection, which proves it.
  ExpectAll(2);
}

// They are late; what becomes of them is for whoever looks for the job.
TEST_F(JobProofTest, FramesOfAJobThatIsNotHereNeedNoProof) {
  sink_.knows_job = false;
  auto sender = NewSender(receiver_.address());
  sender->Send(OfJob(1, kOtherStreamKey));
  RunUntil([&] { return delivered_.size() == 1; });
  EXPECT_EQ(sink_.came.size(), 1u);
  EXPECT_EQ(Refused(), 0u);
}

}  // namespace
}  // namespace bspnow
