#include "worker/host/line_assembler.h"

#include <gtest/gtest.h>

namespace bspnow::worker {
namespace {

TEST(LineAssemblerTest, HoldsALineUntilItIsWhole) {
  LineAssembler lines("");
  EXPECT_EQ(lines.Add("one"), "");
  EXPECT_EQ(lines.Add(" two\nthree"), "one two\n");
  EXPECT_EQ(lines.Finish(), "three");
}

TEST(LineAssemblerTest, PutsThePrefixBeforeEachLineOnce) {
  LineAssembler lines("[7] ");
  EXPECT_EQ(lines.Add("a\n\nb"), "[7] a\n[7] \n");
  EXPECT_EQ(lines.Finish(), "[7] b");
}

TEST(LineAssemblerTest, ContinuesALineWhoseBeginningWasShownAsAPrompt) {
  LineAssembler lines("[0] ");
  EXPECT_EQ(lines.Add("n? "), "");
  EXPECT_TRUE(lines.has_partial());
  EXPECT_EQ(lines.TakePartial(), "[0] n? ");
  EXPECT_FALSE(lines.has_partial());
  EXPECT_EQ(lines.Add("5\nnext\n"), "5\n[0] next\n");
}

TEST(LineAssemblerTest, LetsAnEndlessLineOutInPieces) {
  LineAssembler lines("");
  const std::string piece(LineAssembler::kLineBytesMax, 'x');
  EXPECT_EQ(lines.Add(piece), "");
  EXPECT_EQ(lines.Add("y"), piece + "y");
  EXPECT_EQ(lines.Finish(), "");
}

TEST(LineAssemblerTest, KeepsNulBytes) {
  LineAssembler lines("");
  EXPECT_EQ(lines.Add(std::string_view("a\0b\n", 4)), std::string("a\0b\n", 4));
}

}  // namespace
}  // namespace bspnow::worker
