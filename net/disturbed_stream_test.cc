// A sender whose network cuts connections, flips bits, and hands on what it gets in small parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "net/testing/sending_fixture.h"
#include "net/testing/stream_proxy.h"

namespace bspnow {
namespace {

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
  std::uint64_t frames = 0;
  // In how many parts they go decides how often one is cut: on, until one was.
  while (frames < 20'000 && sender->counts().breaks + sender->counts().stalls == 0) {
    for (const std::uint64_t last = frames + 200; frames < last;) {
      sender->Send(Numbered(++frames, random() % (1u << random() % 16)));
      if (random() % 10 == 0) loop_.RunOnce();
    }
    RunUntil([&] { return sink_.came.size() >= frames - 100; });
  }
  EXPECT_GT(sender->counts().breaks + sender->counts().stalls, 0u);
  proxy.one_in_cut = proxy.one_in_flip = 0;
  RunUntil([&] { return delivered_.size() == frames; });
  ExpectAll(frames);
  EXPECT_TRUE(std::is_sorted(delivered_.begin(), delivered_.end()));
  EXPECT_TRUE(broken_.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, DisturbedStreamTest, testing::Range(0u, 12u));

TEST_F(SendingStreamTest, SingleBytesMakeNoDifference) {
  Proxy proxy(loop_, receiver_.address(), 3);
  proxy.part_bytes_max = 1;
  auto sender = NewSender(proxy.address());
  std::uint64_t frames = 0, stalls = 1;
  for (int tries = 0; stalls != 0 && tries < 20; ++tries) {  // Both ends may have been paused.
    stalls = sender->counts().stalls;
    for (int i = 1; i <= 6; ++i) sender->Send(Numbered(++frames, i == 4 ? 20'000 : 10));
    RunUntil([&] { return delivered_.size() == frames; });
    stalls = sender->counts().stalls - stalls;
  }
  ExpectAll(frames);
  EXPECT_EQ(stalls, 0u) << "what comes slowly is no silence";
}

}  // namespace
}  // namespace bspnow
