#include "worker/exchange/group_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "worker/exchange/testing/group_fixture.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kKey = 0xfeedfacecafebeef;

TEST(GroupReaderTest, ReadsWhatAProcessHasOpened) {
  GroupNode node(1);
  node.Open(0, kKey, {1, 2, 3});
  const auto words = CopySlot(node.slot(0));
  ASSERT_TRUE(words);
  const auto group = ReadGroup(node.whole(), node.shape(), *words, {});
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ(group->id, GroupId{kKey});
  EXPECT_EQ(group->members, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(group->hosts, (std::vector<std::vector<Pid>>{{Pid{0}}, {Pid{1}, Pid{2}}}));
  EXPECT_EQ(group->bytes(), node.part_bytes(3));
}

TEST(GroupReaderTest, LeavesAloneWhatIsFreeOrOfOneNode) {
  GroupNode node(0);
  node.Open(0, kKey, {1, 2});
  node.SetState(0, GroupSlot::kFree);
  EXPECT_FALSE(CopySlot(node.slot(0)));
  node.SetState(0, GroupSlot::kLeft);
  EXPECT_TRUE(CopySlot(node.slot(0)));
  node.slot(0).nodes = 1;
  EXPECT_FALSE(CopySlot(node.slot(0)));
}

struct Damage {
  const char* what;
  std::function<void(GroupNode&, GroupSlot&)> act;
};

class DamagedGroupTest : public testing::TestWithParam<Damage> {};

TEST_P(DamagedGroupTest, IsRefused) {
  GroupNode node(0);
  node.Open(0, 7, {0, 1, 2});
  const auto first = ReadGroup(node.whole(), node.shape(), *CopySlot(node.slot(0)), {});
  ASSERT_TRUE(first.ok());
  node.Open(1, kKey, {1, 2});
  const std::vector<OpenGroup> open{*first};
  ASSERT_TRUE(ReadGroup(node.whole(), node.shape(), *CopySlot(node.slot(1)), open).ok());
  GetParam().act(node, node.slot(1));
  const auto second = ReadGroup(node.whole(), node.shape(), *CopySlot(node.slot(1)), open);
  EXPECT_TRUE(absl::IsInvalidArgument(second.status())) << second.status();
}

const Damage kDamages[] = {
    {"OneMember", [](GroupNode&, GroupSlot& slot) { slot.members = 1; }},
    {"MoreMembersThanProcesses", [](GroupNode&, GroupSlot& slot) { slot.members = kProcs + 1; }},
    {"KeyOfTheRoot", [](GroupNode&, GroupSlot& slot) { slot.key = 0; }},
    {"KeyOfAnother", [](GroupNode&, GroupSlot& slot) { slot.key = 7; }},
    {"OtherBytes", [](GroupNode&, GroupSlot& slot) { slot.bytes += kPageBytes; }},
    {"OffsetWithinAPage", [](GroupNode&, GroupSlot& slot) { slot.offset += 64; }},
    {"OffsetBeforeTheParts",
     [](GroupNode& node, GroupSlot& slot) {
       slot.offset = node.whole().layout().parts_offset - kPageBytes;
     }},
    {"EndBeyondTheParts",
     [](GroupNode& node, GroupSlot& slot) {
       slot.offset = node.whole().bytes() - slot.bytes + kPageBytes;
     }},
    {"OffsetThatOverflows",
     [](GroupNode&, GroupSlot& slot) { slot.offset = ~std::uint64_t{kPageBytes - 1}; }},
    {"PartOfAnother",
     [](GroupNode& node, GroupSlot& slot) { slot.offset = node.slot(0).offset + kPageBytes; }},
    {"MemberBeyondP",
     [](GroupNode& node, GroupSlot&) { node.Part(1).cell(Pid{1}).member = kProcs; }},
    {"MembersThatDescend",
     [](GroupNode& node, GroupSlot&) { node.Part(1).cell(Pid{0}).member = 3; }},
    {"MemberTwice", [](GroupNode& node, GroupSlot&) { node.Part(1).cell(Pid{1}).member = 1; }},
    {"NobodyHere",
     [](GroupNode& node, GroupSlot&) {
       node.Part(1).cell(Pid{0}).member = 2;
       node.Part(1).cell(Pid{1}).member = 3;
     }},
    {"AllHere",
     [](GroupNode& node, GroupSlot&) {
       node.Part(1).cell(Pid{0}).member = 0;
       node.Part(1).cell(Pid{1}).member = 1;
     }},
};

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedGroupTest, testing::ValuesIn(kDamages),
                         [](const auto& each) { return std::string(each.param.what); });

}  // namespace
}  // namespace bspnow::worker
