#include "net/frame_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace bspnow {
namespace {

std::vector<std::byte> SomeBytes(std::size_t bytes) {
  std::vector<std::byte> some(bytes);
  for (std::size_t i = 0; i < bytes; ++i) some[i] = static_cast<std::byte>(i * 7 + 1);
  return some;
}

FrameHeader Sealed(const std::vector<std::byte>& payload) {
  FrameHeader header = HeaderOf(FrameKind::kBatch);
  header.job = 7;
  SealFrame(header, payload);
  return header;
}

TEST(FrameCheckTest, Crc32cIsTheStandardOne) {
  const std::string text = "123456789";  // The check value of RFC 3720, CRC32C.
  EXPECT_EQ(Crc32c(0, std::as_bytes(std::span(text))), 0xe3069283u);
  EXPECT_EQ(Crc32c(Crc32c(0, std::as_bytes(std::span(text)).first(4)),
                   std::as_bytes(std::span(text)).subspan(4)),
            0xe3069283u);
}

TEST(FrameCheckTest, SealedFramesOfAllSizesPass) {
  for (const std::size_t bytes : {0, 1, 31, 32, 33, 1000}) {
    const auto payload = SomeBytes(bytes);
    const FrameHeader header = Sealed(payload);
    EXPECT_EQ(CheckHeader(header), FrameFault::kNone);
    EXPECT_EQ(CheckPayload(header, payload), FrameFault::kNone);
    EXPECT_EQ(CheckPrefix(header, std::span(payload).first(std::min<std::size_t>(bytes, 32))),
              FrameFault::kNone);
  }
}

TEST(FrameCheckTest, PiecesSealAsTheirConcatenation) {
  const auto payload = SomeBytes(100);
  for (std::size_t cut = 0; cut <= payload.size(); ++cut) {
    auto* data = const_cast<std::byte*>(payload.data());
    const iovec pieces[] = {{data, cut}, {nullptr, 0}, {data + cut, payload.size() - cut}};
    FrameHeader header = HeaderOf(FrameKind::kBatch);
    header.job = 7;
    SealFrame(header, pieces);
    const FrameHeader whole = Sealed(payload);
    EXPECT_EQ(std::memcmp(&header, &whole, sizeof header), 0) << cut;
  }
}

TEST(FrameCheckTest, EveryFlippedBitOfAHeaderIsFound) {
  const FrameHeader header = Sealed(SomeBytes(50));
  for (std::size_t bit = 0; bit < sizeof header * 8; ++bit) {
    FrameHeader flipped = header;
    reinterpret_cast<unsigned char*>(&flipped)[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    EXPECT_NE(CheckHeader(flipped), FrameFault::kNone) << bit;
  }
}

TEST(FrameCheckTest, EveryFlippedBitOfAPayloadIsFound) {
  auto payload = SomeBytes(50);
  const FrameHeader header = Sealed(payload);
  for (std::size_t bit = 0; bit < payload.size() * 8; ++bit) {
    payload[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_EQ(CheckPayload(header, payload), FrameFault::kBadPayloadCrc);
    if (bit < kFramePrefixBytes * 8) {
      EXPECT_EQ(CheckPrefix(header, std::span(payload).first(kFramePrefixBytes)),
                FrameFault::kBadPayloadCrc);
    }
    payload[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

TEST(FrameCheckTest, OfATrustedFrameHeaderAndPrefixAreChecked) {
  std::vector<std::byte> payload(100);
  FrameHeader header = HeaderOf(FrameKind::kTrustedBatch);
  SealFrame(header, payload);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = std::byte{1};
    const FrameFault expected =
        i < kFramePrefixBytes ? FrameFault::kBadPayloadCrc : FrameFault::kNone;
    EXPECT_EQ(CheckPayload(header, payload), expected) << i;
    payload[i] = std::byte{0};
  }
  header.sequence += 1;
  EXPECT_EQ(CheckHeader(header), FrameFault::kBadHeaderCrc);
}

TEST(FrameCheckTest, NamesWhatIsWrongFirst) {
  FrameHeader header = Sealed({});
  header.version = kFrameVersion + 1;
  EXPECT_EQ(CheckHeader(header), FrameFault::kBadVersion);
  header.magic = 0;
  EXPECT_EQ(CheckHeader(header), FrameFault::kBadMagic);
  EXPECT_STREQ(FaultName(FrameFault::kBadMagic), "bad_magic");
  EXPECT_STREQ(FaultName(FrameFault::kMalformed), "malformed");
  EXPECT_EQ(FaultStatus(FrameFault::kTooLong).message(), "frame refused: too_long");
  EXPECT_TRUE(FaultStatus(FrameFault::kNone).ok());
}

TEST(FrameCheckTest, UnknownKindIsMalformed) {
  FrameHeader header = HeaderOf(static_cast<FrameKind>(99));
  SealFrame(header, std::span<const std::byte>());
  EXPECT_EQ(CheckHeader(header), FrameFault::kMalformed);
}

}  // namespace
}  // namespace bspnow
