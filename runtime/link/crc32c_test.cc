#include "runtime/link/crc32c.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace bspnow {
namespace {

// RFC 3720, appendix B.4: 32 bytes of zeros, of ones, and ascending.
TEST(Crc32cTest, IsThatOfTheStandard) {
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(Crc32c(0, bytes.data(), bytes.size()), 0x8a9136aau);
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  EXPECT_EQ(Crc32c(0, bytes.data(), bytes.size()), 0x62a8ab43u);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(Crc32c(0, bytes.data(), bytes.size()), 0x46dd794eu);
}

TEST(Crc32cTest, IsTheSameInOnePieceAndByteByByte) {
  std::mt19937_64 random(7);
  std::vector<std::byte> bytes(40'000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (const std::size_t count : {0, 7, 1023, 1024, 1285, 12'287, 12'288, 12'289, 24'583, 40'000}) {
    std::uint32_t single = 0;
    for (std::size_t i = 0; i < count; ++i) single = Crc32c(single, &bytes[i], 1);
    EXPECT_EQ(Crc32c(0, bytes.data(), count), single) << count;
    ForgetProcessor();
    EXPECT_EQ(Crc32c(0, bytes.data(), count), single) << count;
  }
}

}  // namespace
}  // namespace bspnow
