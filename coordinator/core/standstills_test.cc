#include "coordinator/core/standstills.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace bspnow::coordinator {
namespace {

using Stuck = std::vector<StuckProcess>;

struct Member {
  std::uint32_t pid;
  std::uint32_t arrived;
  const char* waits_at = "";
  std::vector<std::uint32_t> any_of = {};
};

proto::StandStill Word(std::uint64_t number) {
  proto::StandStill word;
  word.set_number(number);
  return word;
}

proto::StandingGroup& Add(proto::StandStill& word, std::uint64_t key,
                          const std::vector<std::uint32_t>& members,
                          const std::vector<Member>& here) {
  proto::StandingGroup& group = *word.add_groups();
  group.set_key(key);
  for (const std::uint32_t pid : members) group.add_members(pid);
  for (const Member& member : here) {
    proto::StandingMember& out = *group.add_here();
    out.set_pid(member.pid);
    out.set_arrived(member.arrived);
    out.set_waits_at(member.waits_at);
    for (const std::uint32_t pid : member.any_of) out.add_any_of(pid);
  }
  return group;
}

proto::StandStill Answer(std::uint64_t number, std::uint64_t look) {
  proto::StandStill word = Word(number);
  word.set_look(look);
  return word;
}

// Pid 0 on node a waits in group 5 for pid 1 on node b, which waits in group 6 for pid 0.
class StandstillsTest : public testing::Test {
 protected:
  StandstillsTest() {
    Add(a_, 5, {0, 1}, {{0, 3, "in 5"}});
    Add(a_, 6, {}, {{0, 1}});
    Add(b_, 5, {}, {{1, 2}});
    Add(b_, 6, {0, 1}, {{1, 2, "in 6"}});
  }
  Stuck Find() { return FindStuck({{"a", a_}, {"b", b_}}); }

  proto::StandStill a_ = Word(10);
  proto::StandStill b_ = Word(20);
  const Stuck both_ = {{.pid = 0, .where = "in 5", .awaits = 1},
                       {.pid = 1, .where = "in 6", .awaits = 0}};
  Standstills standstills_;
};

TEST_F(StandstillsTest, ACircleIsCertainOnceAllSayAgainThatNothingHasMoved) {
  EXPECT_TRUE(standstills_.OnWord("a", a_).ask.empty()) << "b may go on, as far as is known";
  const Standstills::Orders orders = standstills_.OnWord("b", b_);
  EXPECT_EQ(orders.ask, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(orders.stuck.empty());
  EXPECT_TRUE(standstills_.OnWord("a", Answer(10, orders.look)).stuck.empty());
  EXPECT_TRUE(standstills_.OnWord("a", Answer(10, orders.look)).stuck.empty()) << "only a";
  EXPECT_EQ(standstills_.OnWord("b", Answer(20, orders.look)).stuck, both_);
}

TEST_F(StandstillsTest, WhoHasMovedMeanwhileEndsTheLook) {
  (void)standstills_.OnWord("a", a_);
  const Standstills::Orders orders = standstills_.OnWord("b", b_);
  EXPECT_TRUE(standstills_.OnWord("b", Answer(21, orders.look)).ask.empty());
  EXPECT_TRUE(standstills_.OnWord("a", Answer(10, orders.look)).stuck.empty());
  const Standstills::Orders again = standstills_.OnWord("b", b_);
  EXPECT_EQ(again.ask.size(), 2u);
  EXPECT_TRUE(standstills_.OnWord("a", Answer(10, orders.look)).stuck.empty()) << "of the first";
}

TEST_F(StandstillsTest, OnlyThoseAreAskedWhoHostOneThatIsStuck) {
  proto::StandStill c = Word(30);
  Add(c, 7, {2, 3}, {{2, 1, "in 7"}});  // Pid 3 has not been heard of.
  (void)standstills_.OnWord("c", c);
  (void)standstills_.OnWord("a", a_);
  EXPECT_EQ(standstills_.OnWord("b", b_).ask, (std::vector<std::string>{"a", "b"}));
}

TEST_F(StandstillsTest, WhoHasArrivedIsNotWaitedFor) {
  b_.mutable_groups(0)->mutable_here(0)->set_arrived(3);
  EXPECT_TRUE(Find().empty());
  b_.mutable_groups(0)->mutable_here(0)->set_arrived(4);  // It has passed that barrier.
  EXPECT_TRUE(Find().empty());
}

// The other node has freed the group since.
TEST_F(StandstillsTest, NorWhoIsKnownToHaveArrived) {
  b_.mutable_groups()->DeleteSubrange(0, 1);
  EXPECT_EQ(Find(), both_) << "it has never opened it";
  a_.mutable_groups(0)->add_heard(1);
  EXPECT_TRUE(Find().empty());
}

TEST_F(StandstillsTest, WhoDoesSomethingElseMayGoOn) {
  b_.mutable_groups(1)->mutable_here(0)->clear_waits_at();
  EXPECT_TRUE(Find().empty());
}

TEST_F(StandstillsTest, TheRootGroupHasAllPidsBelowP) {
  a_ = Word(1);
  Add(a_, 0, {}, {{0, 7, "in the job"}}).set_all_below(2);
  proto::StandingGroup& there = Add(b_, 0, {}, {{1, 6}});
  EXPECT_EQ(Find(), (Stuck{{.pid = 0, .where = "in the job", .awaits = 1}, both_[1]}));
  there.mutable_here(0)->set_arrived(7);
  EXPECT_EQ(Find(), Stuck());
}

// Pid 0 waits for messages at a barrier of the job; pid 1, on the other node, in group 6 for pid 0.
class AheadTest : public StandstillsTest {
 protected:
  AheadTest() {
    a_ = Word(1);
    proto::StandingGroup& here = Add(a_, 0, {}, {{0, 7}});
    here.set_all_below(2);
    here.mutable_here(0)->set_waits_ahead_at("in the job");
    Add(b_, 0, {}, {{1, 6}});
  }
  proto::StandingGroup& There() { return *b_.mutable_groups(b_.groups_size() - 1); }
};

TEST_F(AheadTest, WhoMayGoAheadOfABarrierWaitsForAllNodesThatHaveNotCome) {
  const Stuck both = {{.pid = 0, .where = "in the job", .awaits = 1}, both_[1]};
  EXPECT_EQ(Find(), both);
  There().mutable_here(0)->set_arrived(7);
  EXPECT_EQ(Find(), Stuck()) << "what that node sent may be under way";
  There().mutable_here(0)->set_arrived(6);
  a_.mutable_groups(0)->set_all_below(3);
  EXPECT_EQ(Find(), Stuck()) << "pid 2 may send something";
  proto::StandStill c = Word(30);
  Add(c, 0, {}, {{2, 6}});
  EXPECT_EQ(FindStuck({{"a", a_}, {"b", b_}, {"c", c}}), Stuck()) << "it does something else";
  Add(c, 6, {0, 1, 2}, {{2, 2, "in 6"}});
  EXPECT_EQ(FindStuck({{"a", a_}, {"b", b_}, {"c", c}}).size(), 3u);
}

TEST_F(AheadTest, NobodyGoesAheadBeforeAllOfItsNodeHaveCome) {
  Add(a_, 6, {0, 1, 3}, {{3, 2, "in 6"}});
  proto::StandingMember& mate = *a_.mutable_groups(0)->add_here();
  mate.set_pid(3);
  mate.set_arrived(6);
  There().mutable_here(0)->set_arrived(7);
  EXPECT_EQ(Find().size(), 3u) << "though the other node has come";
  a_.mutable_groups(0)->mutable_here(1)->set_arrived(7);
  EXPECT_EQ(Find(), Stuck());
}

// A program writes what its node says of it.
TEST(StandstillsWordTest, OneThatWouldTakeLongIsPassedOver) {
  proto::StandStill a = Word(1);
  proto::StandStill b = Word(1);
  Add(a, 5, {0, 1}, {{0, 2, "in one"}});
  Add(a, 6, {0, 1}, {{0, 1}});
  Add(b, 5, {0, 1}, {{1, 1}});
  Add(b, 6, {0, 1}, {{1, 2, "in the other"}});
  Standstills standstills;
  EXPECT_TRUE(standstills.OnWord("b", b).ask.empty());
  EXPECT_EQ(standstills.OnWord("a", a).ask.size(), 2u);
  proto::StandingGroup& junk = Add(a, 0, {}, {});
  junk.set_all_below(1 << 16);
  for (std::uint32_t arrived = 0; arrived < 20; ++arrived) {
    proto::StandingMember& member = *junk.add_here();
    member.set_pid(7);
    member.set_arrived(arrived);
    member.set_waits_at("everywhere");
  }
  a.set_number(2);
  EXPECT_TRUE(standstills.OnWord("a", a).ask.empty());
}

TEST_F(StandstillsTest, WhoNeedsOneOfSeveralGoesOnIfOneDoes) {
  a_ = Word(1);
  Add(a_, 6, {}, {{0, 1}});
  Add(a_, 8, {0, 2, 1}, {{0, 3, "for messages", {1, 2}}});
  EXPECT_TRUE(Find().empty()) << "pid 2 may send";
  proto::StandingMember& receiver = *a_.mutable_groups(1)->mutable_here(0);
  receiver.mutable_any_of()->RemoveLast();
  EXPECT_EQ(Find(), (Stuck{{.pid = 0, .where = "for messages", .awaits = 1}, both_[1]}));
}

// Many who wait for one circle, and a chain of those who only seem to.
TEST_F(StandstillsTest, WhoWaitsForTheStuckIsStuckAndOthersAreNot) {
  for (std::uint32_t pid = 2; pid < 100; ++pid) {
    Add(a_, pid + 100, {pid, pid + 1}, {{pid, 2, "in a chain"}});
    Add(b_, pid + 1000, {1, pid + 1000}, {{pid + 1000, 2, "for 1"}});
  }
  const Stuck stuck = Find();
  EXPECT_EQ(stuck.size(), 100u);
  for (const StuckProcess& each : stuck) EXPECT_NE(each.where, "in a chain");
}

}  // namespace
}  // namespace bspnow::coordinator
