#include "coordinator/access/page_sessions.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kNowNs = 5 * kNsPerS;

CallerNow Always(const std::string& user) {
  return
      [user]() -> std::optional<Caller> { return Caller{.user = user, .scopes = kScopesOfUser}; };
}

TEST(PageSessionsTest, TicketIsGoodOnce) {
  PageSessions sessions;
  const std::string ticket = sessions.MakeTicket("anna", Always("anna"), kNowNs);
  const auto session = sessions.Redeem(ticket, kNowNs + 1);
  ASSERT_TRUE(session);
  EXPECT_EQ(sessions.CallerOf(*session, kNowNs + 2)->user, "anna");
  EXPECT_FALSE(sessions.Redeem(ticket, kNowNs + 3));
  EXPECT_FALSE(sessions.CallerOf(ticket, kNowNs + 3));
  EXPECT_FALSE(sessions.Redeem(*session, kNowNs + 3));
}

TEST(PageSessionsTest, TicketsAndSessionsHaveAnEnd) {
  PageSessions sessions;
  const std::string late = sessions.MakeTicket("anna", Always("anna"), kNowNs);
  const std::string good = sessions.MakeTicket("anna", Always("anna"), kNowNs);
  const auto session = sessions.Redeem(good, kNowNs);
  EXPECT_FALSE(sessions.Redeem(late, kNowNs + PageSessions::kTicketNs));
  EXPECT_TRUE(sessions.CallerOf(*session, kNowNs + PageSessions::kSessionNs - 1));
  EXPECT_FALSE(sessions.CallerOf(*session, kNowNs + PageSessions::kSessionNs));
}

TEST(PageSessionsTest, UserWhoseProofCountsNoMoreIsNobody) {
  PageSessions sessions;
  std::optional<Caller> now = Caller{.user = "anna", .scopes = kScopesOfUser};
  const auto session = sessions.Redeem(sessions.MakeTicket(
                                           "anna", [&now] { return now; }, kNowNs),
                                       kNowNs);
  EXPECT_TRUE(sessions.CallerOf(*session, kNowNs));
  now->scopes = static_cast<Scopes>(Scope::kRead);
  EXPECT_FALSE(sessions.CallerOf(*session, kNowNs)->May(Scope::kSubmit));
  now.reset();
  EXPECT_FALSE(sessions.CallerOf(*session, kNowNs));
}

TEST(PageSessionsTest, OldestOfOneUserMakesRoomForTheNext) {
  PageSessions sessions;
  const auto open = [&sessions](const std::string& user, std::uint64_t now_ns) {
    return *sessions.Redeem(sessions.MakeTicket(user, Always(user), now_ns), now_ns);
  };
  const std::string of_bob = open("bob", kNowNs);
  std::vector<std::string> of_anna;
  for (std::size_t i = 0; i <= PageSessions::kOfUserMax; ++i)
    of_anna.push_back(open("anna", kNowNs + i + 1));
  EXPECT_FALSE(sessions.CallerOf(of_anna.front(), kNowNs + 100));
  EXPECT_TRUE(sessions.CallerOf(of_anna[1], kNowNs + 100));
  EXPECT_TRUE(sessions.CallerOf(of_anna.back(), kNowNs + 100));
  EXPECT_TRUE(sessions.CallerOf(of_bob, kNowNs + 100));
}

}  // namespace
}  // namespace bspnow::coordinator
