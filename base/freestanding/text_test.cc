#include "base/freestanding/text.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <string>

#include "base/freestanding/line_reader.h"

namespace bspnow {
namespace {

TextPiece Piece(const char* text) { return {text, Length(text)}; }

TEST(TextPieceTest, WordEndsAtBlankTabOrColon) {
  TextPiece line = Piece("Rss:\t  12 kB");
  EXPECT_TRUE(line.Word().Is("Rss"));
  EXPECT_TRUE(line.Word().Is("12"));
  EXPECT_TRUE(line.Word().Is("kB"));
  EXPECT_EQ(line.bytes, 0u);
}

TEST(TextPieceTest, ComparesWithinItsBytes) {
  const TextPiece piece{"/dev/zero", 4};
  EXPECT_TRUE(piece.Is("/dev"));
  EXPECT_TRUE(piece.EndsWith("dev"));
  EXPECT_FALSE(piece.StartsWith("/dev/"));
  EXPECT_FALSE(Piece("").EndsWith("x"));
}

TEST(TakeNumberTest, StopsAtWhatIsNoDigitOfTheBase) {
  TextPiece line = Piece("7f12-19");
  EXPECT_EQ(TakeNumber(line, 16), 0x7f12u);
  line.Skip('-');
  EXPECT_EQ(TakeNumber(line, 8), 1u);
  EXPECT_TRUE(line.Is("9"));
}

TEST(FixedTextTest, WritesNumbersAndHashes) {
  FixedText<100> text;
  text << std::uint64_t{0} << " " << ~std::uint64_t{0} << " " << Hex{0xbc} << " " << Hash128{1, 2};
  EXPECT_STREQ(text.text(), "0 18446744073709551615 bc 00000000000000010000000000000002");
}

TEST(FixedTextTest, NamesErrors) {
  FixedText<100> text;
  text << CallError{-ENOSPC} << ", " << CallError{-ELOOP};
  EXPECT_STREQ(text.text(), "no space left on the device, error 40");
}

TEST(FixedTextTest, LeavesOutWhatDoesNotFit) {
  FixedText<8> text;
  text << "12345"
       << "6789" << Hex{10};
  EXPECT_STREQ(text.text(), "1234567");
  text.Clear();
  EXPECT_TRUE(text.empty());
}

TEST(LineReaderTest, CutsLinesThatAreLongerThanItsBuffer) {
  char buffer[16];
  LineReader lines("/proc/self/status", buffer, sizeof buffer);
  TextPiece line;
  ASSERT_TRUE(lines.Next(line));
  EXPECT_TRUE(line.StartsWith("Name:\t"));
  std::size_t longest = 0;
  while (lines.Next(line)) longest = std::max(longest, line.bytes);
  EXPECT_EQ(longest, sizeof buffer);
}

TEST(LineReaderTest, AMissingFileHasNoLines) {
  char buffer[16];
  LineReader lines("/no/such/file", buffer, sizeof buffer);
  TextPiece line;
  EXPECT_FALSE(lines.Next(line));
}

}  // namespace
}  // namespace bspnow
