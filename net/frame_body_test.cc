#include "net/frame_body.h"

#include <gtest/gtest.h>
#include <string.h>

namespace bspnow {
namespace {

std::vector<std::byte> Release(const ReleaseBody& body, std::span<const PeerOwed> peers,
                               std::span<const std::byte> ending) {
  std::vector<std::byte> payload;
  EncodeBarrier(body, peers, ending, payload);
  return payload;
}

ReleaseBody Body(std::uint32_t peers, std::uint32_t ending_bytes) {
  ReleaseBody body{};
  body.barrier = 7;
  body.peers = peers;
  body.ending_bytes = ending_bytes;
  return body;
}

TEST(BarrierViewTest, ReadsPeersAndEnding) {
  const PeerOwed peers[] = {{.worker = 3, .reserved = 0, .frames = 9},
                            {.worker = 5, .reserved = 0, .frames = 1}};
  const std::byte ending[] = {std::byte{0x02}, std::byte{0x01}};
  const auto payload = Release(Body(2, 2), peers, ending);
  const auto view = ReleaseView::Decode(payload);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->body().barrier, 7u);
  EXPECT_EQ(view->peer(1).worker, 5u);
  EXPECT_EQ(view->peer(0).frames, 9u);
  EXPECT_FALSE(view->InEnd(0));
  EXPECT_TRUE(view->InEnd(1));
  EXPECT_TRUE(view->InEnd(8));
  EXPECT_FALSE(view->InEnd(16));  // Beyond the bitmap.
}

TEST(BarrierViewTest, RefusesLengthsThatDoNotAddUp) {
  const PeerOwed peers[] = {{.worker = 3, .reserved = 0, .frames = 9}};
  EXPECT_TRUE(ReleaseView::Decode(Release(Body(1, 0), peers, {})).has_value());
  EXPECT_FALSE(ReleaseView::Decode(Release(Body(2, 0), peers, {})).has_value());
  EXPECT_FALSE(ReleaseView::Decode(Release(Body(0xffffffff, 16), peers, {})).has_value());
  EXPECT_FALSE(ReleaseView::Decode(Release(Body(0x10000000, 0), peers, {})).has_value());
  auto cut = Release(Body(0, 0), {}, {});
  cut.pop_back();
  EXPECT_FALSE(ReleaseView::Decode(cut).has_value());
}

TEST(FrameBodyTest, TakesABodyOfItsLengthOnly) {
  const std::byte payload[sizeof(BeginBody) + 1] = {std::byte{7}};
  const std::span<const std::byte> bytes(payload);
  ASSERT_TRUE(BodyFrom<BeginBody>(bytes.first(sizeof(BeginBody))).has_value());
  EXPECT_EQ(BodyFrom<BeginBody>(bytes.first(sizeof(BeginBody)))->nprocs, 7u);
  EXPECT_FALSE(BodyFrom<BeginBody>(bytes).has_value());
  EXPECT_TRUE(BodyAtStart<BeginBody>(bytes).has_value());
  EXPECT_FALSE(BodyAtStart<BeginBody>(bytes.first(sizeof(BeginBody) - 1)).has_value());
}

TEST(EncodeBarrierTest, WritesBodyThenPeersThenEnding) {
  ArriveBody body{};
  body.peers = 1;
  body.ending_bytes = 1;
  const PeerOwed peer{.worker = 4, .reserved = 0, .frames = 2};
  const std::byte ending{0x5a};
  std::vector<std::byte> payload(3);  // What was in it goes.
  EncodeBarrier(body, {&peer, 1}, {&ending, 1}, payload);
  ASSERT_EQ(payload.size(), sizeof body + sizeof peer + 1);
  EXPECT_EQ(memcmp(payload.data(), &body, sizeof body), 0);
  EXPECT_EQ(memcmp(payload.data() + sizeof body, &peer, sizeof peer), 0);
  EXPECT_EQ(payload.back(), ending);
}

}  // namespace
}  // namespace bspnow
