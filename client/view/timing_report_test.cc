#include "client/view/timing_report.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

TEST(TimingReportTest, SaysWhatGroupsDidAndWhichFiguresHaveNothingOfIt) {
  proto::JobTotals totals;
  totals.set_processes(4);
  totals.set_supersteps(3);
  EXPECT_EQ(TimingAsText(totals).find("left out"), std::string::npos);
  EXPECT_EQ(TotalsJson(totals)["groups"]["supersteps"], 0);
  totals.set_group_supersteps(24);
  totals.set_group_sync_ns(5'000'000);
  totals.set_group_bytes_out(3200);
  totals.set_group_messages(12);
  const std::string shown = TimingAsText(totals);
  EXPECT_NE(shown.find("left out of h and the supersteps: groups, whose members ended 24 supersteps"
                       " with 12 puts, gets and messages, 3.200 kB; of the computing 5.000 ms "),
            std::string::npos)
      << shown;
  EXPECT_EQ(TotalsJson(totals)["groups"]["sync_ns"], 5'000'000);
  EXPECT_EQ(TotalsJson(totals)["groups"]["bytes_out"], 3200);
}

}  // namespace
}  // namespace bspnow::client
