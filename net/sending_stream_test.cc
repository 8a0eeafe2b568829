#include "net/sending_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "net/frame_stream.h"
#include "net/listener.h"
#include "net/testing/sending_fixture.h"
#include "net/testing/stream_proxy.h"

namespace bspnow {
namespace {

TEST_F(SendingStreamTest, ConnectsAtTheFirstFrameAndDeliversAll) {
  stall_ms_ = kNoStallMs;
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
  std::uint64_t fastest_ns = ~std::uint64_t{0};  // All are slower only if each waits for its Ack.
  for (std::uint64_t i = 1; i <= kFrames; ++i) {
    const std::uint64_t start_ns = NowNs();
    sender->Send(Numbered(i, 10));
    RunUntil([&] { return delivered_.size() == i; });
    fastest_ns = std::min(fastest_ns, NowNs() - start_ns);
  }
  EXPECT_LT(fastest_ns, 10 * kNsPerMs) << "an Ack that nobody awaits: 20 ms";
}

TEST_F(SendingStreamTest, DroppedJobIsNotLookedAtAgainAndTheOtherGoesOn) {
  auto sender = NewSender(receiver_.address());
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return sender->connected(); });
  for (std::uint64_t i = 3; i <= 60; ++i) sender->Send(Numbered(i, 1'000'000));
  EXPECT_LT(sender->counts().frames, texts_.size());
  sender->DropGroup(JobId{1}, kRootGroup);
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
  receiver_.SetSelf(WorkerId{99}, kStreamKey);  // Nobody is at home yet.
  for (std::uint64_t i = 1; i <= 10; ++i) sender->Send(Numbered(i, 10));
  sender->Prune(JobId{1}, Epoch{}, kRootGroup, Superstep{6});
  sender->Prune(JobId{2}, Epoch{}, kRootGroup, Superstep{6});
  receiver_.SetSelf(kReceiver, kStreamKey);
  RunUntil([&] { return delivered_.size() == 4; });
  EXPECT_EQ(sink_.came.front().piece.chunk_offset, 7u);
}

TEST_F(SendingStreamTest, GroupsOfAJobAreDroppedAndDeliveredApart) {
  constexpr GroupId kOne{std::uint64_t{1} << 40};
  constexpr GroupId kTwo{std::uint64_t{1} << 41};
  auto sender = NewSender(receiver_.address());
  receiver_.SetSelf(WorkerId{99}, kStreamKey);  // Nobody is at home yet.
  for (std::uint64_t i = 2; i <= 10; i += 2) {
    OutgoingBatch batch = Numbered(i, 10);
    batch.group = i <= 6 ? kOne : kTwo;
    sender->Send(std::move(batch));
  }
  sender->Prune(JobId{1}, Epoch{}, kTwo, Superstep{8});
  sender->DropGroup(JobId{1}, kOne);
  EXPECT_FALSE(sender->Holds(JobId{1}, kOne));
  EXPECT_TRUE(sender->Holds(JobId{1}, kTwo));
  receiver_.SetSelf(kReceiver, kStreamKey);
  RunUntil([&] { return !delivered_.empty(); });
  EXPECT_EQ(delivered_, (std::vector<std::uint64_t>{10}));
  EXPECT_EQ(groups_, (std::vector<GroupId>{kTwo}));
  EXPECT_EQ(sink_.came.front().header.group, Value(kTwo));
  EXPECT_FALSE(sender->Holds(JobId{1}, kTwo));
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

// It may arrive the next time, until nothing did for so long that the other end is unreachable.
TEST_F(SendingStreamTest, FrameThatIsDamagedAgainAndAgainIsSentUntilItArrives) {
  unreachable_ms_ = 2000;
  auto sender = NewSender(receiver_.address());
  sink_.verdict = FrameFault::kBadPayloadCrc;
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return sink_.came.size() == 6; });
  EXPECT_TRUE(broken_.empty());
  RunUntil([&] { return !broken_.empty(); });
  EXPECT_EQ(broken_[1], "worker w2 cannot be reached at " + receiver_.address().ToString() +
                            " for 2 s: closed by the receiver: bad_payload_crc");
  sink_.verdict = FrameFault::kNone;
  RunUntil([&] { return delivered_.size() == 1; });
}

// A program may write into what is sent, always between the checksum and the socket.
TEST_F(SendingStreamTest, WhatWasDamagedIsSentAgainFromACopy) {
  auto sender = NewSender(receiver_.address());
  sink_.verdict = FrameFault::kBadPayloadCrc;
  sender->Send(Numbered(1, 1000));
  const std::string sent = texts_[1];
  RunUntil([&] { return sender->counts().breaks == 1; });
  texts_[1].assign(1000, '#');
  sink_.verdict = FrameFault::kNone;
  RunUntil([&] { return delivered_.size() == 1; });
  EXPECT_TRUE(sink_.came.back().data == sent);
}

// Or into where it comes.
TEST_F(SendingStreamTest, WhatWasDamagedIsReceivedApart) {
  auto sender = NewSender(receiver_.address());
  sink_.verdict = FrameFault::kBadPayloadCrc;
  sender->Send(Numbered(2, 1'000'000));
  RunUntil([&] { return sender->counts().breaks == 1; });
  sink_.verdict = FrameFault::kNone;
  RunUntil([&] { return delivered_.size() == 1; });
  EXPECT_EQ(sink_.places, 1);
  sender->Send(Numbered(4, 1'000'000));
  RunUntil([&] { return delivered_.size() == 2; });
  EXPECT_EQ(sink_.places, 2);
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
  EXPECT_GT(sender->counts().stalls, 1u);
  proxy.silent = false;
  sender->Send(Numbered(3, 10));
  RunUntil([&] { return delivered_.size() == 3; });
}

TEST_F(SendingStreamTest, WorkerThatWelcomesAndSwallowsAllIsUnreachable) {
  Proxy proxy(loop_, receiver_.address(), 1);
  proxy.pass_bytes_max =
      2 * sizeof(FrameHeader) + sizeof(HelloBody) + sizeof(StreamNonce) + sizeof(ProofBody);
  unreachable_ms_ = 1000;
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return !broken_.empty(); });
  EXPECT_GT(sender->counts().connects, 1u);
  // By the end of the time it has either heard nothing for a while or, of late, a Welcome.
  EXPECT_TRUE(broken_[1].starts_with("worker w2 cannot be reached at " +
                                     proxy.address().ToString() + " for 1 s: no "))
      << broken_[1];
  proxy.pass_bytes_max = UINT64_MAX;
  RunUntil([&] { return delivered_.size() == 1; });
}

TEST_F(SendingStreamTest, TimeWithoutAFrameIsNoSilence) {
  Proxy proxy(loop_, receiver_.address(), 1);
  unreachable_ms_ = 1000;
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_.size() == 1; });
  bool later = false;
  loop_.AddTimer(1100, [&] { later = true; });
  RunUntil([&] { return later; });
  proxy.CutAll();
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return delivered_.size() == 2; });
  EXPECT_TRUE(broken_.empty());
}

// Of a laptop that was suspended: the other end may have been, too.
TEST_F(SendingStreamTest, TimeInWhichTheSenderWasStoppedIsNoSilence) {
  Proxy proxy(loop_, receiver_.address(), 1);
  unreachable_ms_ = 1000;
  auto sender = NewSender(proxy.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_.size() == 1; });
  proxy.silent = true;
  sender->Send(Numbered(2, 10));
  loop_.RunOnce();
  for (const std::uint64_t until_ns = NowNs() + 2 * kNsPerS; NowNs() < until_ns;) {
  }
  RunUntil([&] { return sender->counts().stalls > 0; });
  proxy.silent = false;
  RunUntil([&] { return delivered_.size() == 2; });
  EXPECT_TRUE(broken_.empty());
}

// A whole room is suspended, and who knows the names comes back last.
TEST_F(SendingStreamTest, TimeInWhichALookupWasStoppedIsNoSilence) {
  std::binary_semaphore asked(0), answer(0);
  bool fails = true;  // The first one.
  lookup_ = [&](const HostPort&) -> Resolver::Answer {
    if (!std::exchange(fails, false)) return std::vector{receiver_.address()};
    asked.release();
    answer.acquire();
    return absl::UnavailableError("no name server");
  };
  unreachable_ms_ = 1000;
  auto sender = NewSender(*Resolve({"127.0.0.1", 1}));
  sender->SetAddress({"w2.example", 1});
  sender->Send(Numbered(1, 10));
  asked.acquire();
  loop_.RunOnce();
  for (const std::uint64_t until_ns = NowNs() + 2 * kNsPerS; NowNs() < until_ns;) {
  }
  answer.release();
  RunUntil([&] { return delivered_.size() == 1; });
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

// The coordinator has another key since it lost its directory; both ends hear of that in turn.
TEST_F(SendingStreamTest, DeliversOnceBothEndsHaveTheSameKey) {
  receiver_.SetSelf(kReceiver, kOtherStreamKey);
  auto sender = NewSender(receiver_.address());
  sender->Send(Numbered(1, 10));
  constexpr auto kBadProof = static_cast<std::size_t>(FrameFault::kBadProof);
  RunUntil([&] { return sender->counts().faults[kBadProof] >= 2; });
  EXPECT_FALSE(sender->connected());
  EXPECT_TRUE(sink_.came.empty());
  key_ = kOtherStreamKey;
  RunUntil([&] { return delivered_.size() == 1; });
  ExpectAll(1);
}

TEST_F(SendingStreamTest, StreamEndsWhenEitherEndHasAnotherKey) {
  auto sender = NewSender(receiver_.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return delivered_.size() == 1; });
  receiver_.SetSelf(kReceiver, kStreamKey);  // The same one.
  sender->Send(Numbered(2, 10));
  RunUntil([&] { return delivered_.size() == 2; });
  EXPECT_EQ(sender->counts().connects, 1u);
  receiver_.SetSelf(kReceiver, kOtherStreamKey);
  sender->Send(Numbered(3, 10));
  RunUntil([&] { return sender->counts().breaks == 1; });
  key_ = kOtherStreamKey;
  RunUntil([&] { return delivered_.size() == 3; });
  sender->ConnectAnew("as a worker does that has another key");
  EXPECT_FALSE(sender->connected());
  sender->Send(Numbered(4, 10));
  RunUntil([&] { return delivered_.size() == 4; });
  ExpectAll(4);
  EXPECT_EQ(sender->counts().connects, 3u);
}

/// Takes connections of a sender, and answers its Hello with one frame.
class FalseReceiver {
 public:
  FalseReceiver(EventLoop& loop, const FrameHeader& answer, std::span<const std::byte> payload) {
    auto listener =
        Listener::Create(loop, *Resolve({"127.0.0.1", 0}), {}, [=, this, &loop](Accepted one) {
          FrameStreamEvents events;
          events.frame = [this, answer, payload](const FrameHeader& header, auto) {
            ++(FrameKind{header.kind} == FrameKind::kHello ? hellos : others);
            streams_.back()->Send(answer, payload);
            return FrameFault::kNone;
          };
          events.closed = [](const absl::Status&) {};
          streams_.push_back(std::make_unique<FrameStream>(loop, std::move(one.fd), kStreamKey,
                                                           std::move(events)));
        });
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }

  const SocketAddress& address() const { return listener_->address(); }

  int hellos = 0;
  int others = 0;

 private:
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<FrameStream>> streams_;
};

// It listens where a worker was, say.
TEST_F(SendingStreamTest, OneThatDoesNotProveTheKeyGetsNoFrame) {
  for (const FrameKind kind : {FrameKind::kWelcome, FrameKind::kChallenge, FrameKind::kAck}) {
    const ChallengeBody invented{};
    const bool challenge = kind == FrameKind::kChallenge;
    FalseReceiver receiver(loop_, HeaderOf(kind),
                           challenge ? BytesOf(invented) : std::span<const std::byte>());
    auto sender = NewSender(receiver.address());
    sender->Send(Numbered(1, 10));
    RunUntil([&] { return receiver.hellos == 3; });
    EXPECT_EQ(receiver.others, 0);
    EXPECT_EQ(sender->counts().connects, 0u);
    EXPECT_EQ(sender->retained_frames(), 1u);
  }
}

TEST_F(SendingStreamTest, OneThatDoesNotProveTheKeyCannotRefuseFrames) {
  FrameHeader abort = HeaderOf(FrameKind::kAbort);
  abort.sequence = 1;
  FalseReceiver receiver(loop_, abort, {});
  auto sender = NewSender(receiver.address());
  sender->Send(Numbered(1, 10));
  RunUntil([&] { return receiver.hellos == 6; });
  EXPECT_TRUE(broken_.empty());
  EXPECT_EQ(sender->retained_frames(), 1u);
}

}  // namespace
}  // namespace bspnow
