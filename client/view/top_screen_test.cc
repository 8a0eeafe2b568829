#include "client/view/top_screen.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace bspnow::client {
namespace {

TEST(TopScreenTest, SaysBelowWhatGroupsDid) {
  TopScreen screen;
  TopSample sample{};
  proto::Job& job = sample.jobs.emplace_back();
  job.set_job(7);
  job.set_state(proto::RUNNING);
  job.mutable_totals()->set_supersteps(100);
  job.mutable_totals()->set_total_ns(5'000'000);
  EXPECT_EQ(screen.Show(sample, Colours::kOff).find("in groups"), std::string::npos);
  sample.taken_ns += 2'000'000'000;
  job.mutable_totals()->set_supersteps(101);
  job.mutable_totals()->set_total_ns(6'000'000);
  job.mutable_totals()->set_group_supersteps(48);
  job.mutable_totals()->set_group_sync_ns(250'000);
  std::string text = screen.Show(sample, Colours::kOff);
  EXPECT_NE(text.find("\njob 7 in groups: 24 supersteps a second, which took 25 % of the time\n"),
            std::string::npos)
      << text;
  // Nothing since the last look; and a job that is back at a checkpoint had fewer there.
  for (const std::uint64_t supersteps : {48, 30}) {
    sample.taken_ns += 2'000'000'000;
    job.mutable_totals()->set_group_supersteps(supersteps);
    text = screen.Show(sample, Colours::kOff);
    EXPECT_EQ(text.find("in groups"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace bspnow::client
