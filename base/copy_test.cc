#include "base/copy.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace bspnow {
namespace {

std::vector<std::byte> RandomBytes(std::size_t bytes) {
  std::mt19937 random(7);
  std::vector<std::byte> data(bytes);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  return data;
}

// Guards around the target show a store that goes too far.
void ExpectCopies(std::size_t to_offset, std::size_t from_offset, std::size_t bytes,
                  void (*copy)(void*, const void*, std::size_t)) {
  const std::vector<std::byte> source = RandomBytes(from_offset + bytes);
  std::vector<std::byte> target(to_offset + bytes + 64, std::byte{0xaa});
  std::vector<std::byte> expected = target;
  for (std::size_t i = 0; i < bytes; ++i) expected[to_offset + i] = source[from_offset + i];
  copy(target.data() + to_offset, source.data() + from_offset, bytes);
  EXPECT_EQ(target, expected) << "to +" << to_offset << ", from +" << from_offset << ", " << bytes;
}

TEST(CopyTest, StreamingCopiesAnySizeAtAnyAlignment) {
  for (const std::size_t bytes : {0, 1, 15, 16, 63, 64, 65, 127, 128, 1000, 4096, 4097}) {
    for (std::size_t to = 0; to < 64; to += 7) {
      for (std::size_t from = 0; from < 64; from += 5) {
        ExpectCopies(to, from, bytes, CopyStreaming);
      }
    }
  }
}

TEST(CopyTest, CopiesOnBothSidesOfTheStreamingSize) {
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{8}, kStreamingBytesMin - 1,
                                  kStreamingBytesMin, kStreamingBytesMin + 3}) {
    ExpectCopies(3, 9, bytes, Copy);
  }
}

}  // namespace
}  // namespace bspnow
