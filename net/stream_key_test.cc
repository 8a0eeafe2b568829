#include "net/stream_key.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// RFC 4231, 4.3 has a shorter key; this was made by Python's hmac.
TEST(StreamKeyTest, MacIsAnHmacSha256) {
  const auto key = StreamKey::FromBytes(std::string(32, 'k'));
  ASSERT_TRUE(key.has_value());
  const StreamKey::Mac mac = key->MacOf(Bytes("what do ya want for nothing?"));
  std::string digits;
  for (const std::byte byte : mac) {
    constexpr const char* kDigits = "0123456789abcdef";
    digits += kDigits[std::to_integer<int>(byte >> 4)];
    digits += kDigits[std::to_integer<int>(byte & std::byte{15})];
  }
  EXPECT_EQ(digits, "4f63351605b85f42e803b30e42c1905fed065a563ff4295a47982e43f228e097");
}

TEST(StreamKeyTest, HasJustSoManyBytes) {
  EXPECT_FALSE(StreamKey::FromBytes("").has_value());
  EXPECT_FALSE(StreamKey::FromBytes(std::string(31, 'k')).has_value());
  EXPECT_FALSE(StreamKey::FromBytes(std::string(33, 'k')).has_value());
  const std::string bytes(32, 'k');
  EXPECT_EQ(StreamKey::FromBytes(bytes)->bytes(), bytes);
}

TEST(StreamKeyTest, IsEmptyUntilItIsGiven) {
  EXPECT_TRUE(StreamKey().empty());
  EXPECT_EQ(StreamKey().bytes(), "");
  EXPECT_FALSE(StreamKey::Random().empty());
}

TEST(StreamKeyTest, MakesAnotherForEachText) {
  const StreamKey key = StreamKey::Random().Encrypting();
  EXPECT_EQ(key.For("a"), key.For("a"));
  EXPECT_NE(key.For("a"), key.For("b"));
  EXPECT_NE(key.For("a"), StreamKey::Random().For("a"));
  EXPECT_EQ(key.For("a").bytes().size(), StreamKey::kBytes);
  EXPECT_FALSE(key.For("a").encrypts());
}

TEST(StreamKeyTest, NoTwoRandomOnesAreAlike) {
  EXPECT_NE(StreamKey::Random().bytes(), StreamKey::Random().bytes());
}

TEST(StreamKeyTest, SecretsAreTheSameIfAllBytesAre) {
  EXPECT_TRUE(SameSecret(Bytes("abc"), Bytes("abc")));
  EXPECT_TRUE(SameSecret(Bytes(""), Bytes("")));
  EXPECT_FALSE(SameSecret(Bytes("abc"), Bytes("abd")));
  EXPECT_FALSE(SameSecret(Bytes("abc"), Bytes("ab")));
  EXPECT_FALSE(SameSecret(Bytes("abc"), Bytes("")));
}

}  // namespace
}  // namespace bspnow
