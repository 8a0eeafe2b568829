#include "client/view/job_view.h"

#include <gtest/gtest.h>

#include "client/view/harmless.h"
#include "client/view/job_json.h"
#include "client/view/line_prefixer.h"
#include "client/view/top_screen.h"
#include "client/view/upload_progress.h"

namespace bspnow::client {
namespace {

proto::Job WaitingJob() {
  proto::Job job;
  job.set_job(7);
  job.mutable_spec()->set_name("pagerank");
  job.mutable_spec()->set_nprocs(8);
  job.set_state(proto::WAITING);
  job.set_reason("needs 8 slots, 3 free");
  return job;
}

proto::Job RunningJob(std::uint64_t supersteps) {
  proto::Job job = WaitingJob();
  job.set_state(proto::RUNNING);
  job.clear_reason();
  job.set_started_unix_ms(1'000'000);
  job.set_run_ms(10'000);
  proto::JobTotals& totals = *job.mutable_totals();
  totals.set_supersteps(supersteps);
  totals.set_total_ns(1'000'000 * supersteps);
  totals.set_w_ns(500'000 * supersteps);
  totals.set_compute_ns(500'000 * supersteps);
  totals.set_waiting_ns(200'000 * supersteps);
  totals.set_release_ns(50'000 * supersteps);
  totals.set_exchange_ns(100'000 * supersteps);
  totals.set_h_bytes(2'000 * supersteps);
  return job;
}

TEST(TextTableTest, AlignsColumnsAndLeavesNoBlanksAtTheEnds) {
  TextTable table({{"A", Align::kRight}, {"NAME", Align::kLeft}, {"B", Align::kRight}});
  table.AddRow({{"1"}, {"x"}, {"22"}});
  table.AddRow({{"100"}, {"längere"}, {""}});
  EXPECT_EQ(table.Text(Colours::kOff),
            "  A  NAME      B\n"
            "  1  x        22\n"
            "100  längere\n");
}

TEST(TextTableTest, ColoursOnlyIfAskedTo) {
  TextTable table({{"STATE", Align::kLeft}});
  table.AddRow({{"failed", Colour::kBad}});
  EXPECT_EQ(table.Text(Colours::kOff), "STATE\nfailed\n");
  EXPECT_EQ(table.Text(Colours::kOn), "STATE\n\033[31mfailed\033[0m\n");
}

TEST(TextTableTest, LetsNoNameSteerTheTerminal) {
  TextTable table({{"NAME", Align::kLeft}});
  table.AddRow({{"a\033[2Jb\nc"}});
  EXPECT_EQ(table.Text(Colours::kOff), "NAME\na?[2Jb?c\n");
  EXPECT_EQ(TextTable({{"\033]0;x", Align::kLeft}}).Text(Colours::kOff), "?]0;x\n");
}

TEST(TextTableTest, KnowsBothHalvesOfTheControlCharacters) {
  EXPECT_EQ(Harmless("\x7f\xc2\x9b ä\xc2\xa0"), "?\xc2? ä\xc2\xa0");
}

TEST(TextTableTest, LetsNoNameTurnTheDirectionOfItsLine) {
  EXPECT_EQ(Harmless("a\u202eb\u2066\u200f\u061c"), "a?b???");
  EXPECT_EQ(Harmless("\u2025\u20ac\u0621\xe2\x80"), "\u2025\u20ac\u0621\xe2\x80");
}

TEST(JobViewTest, TableSaysWhyAJobWaits) {
  const std::string text = JobTable({WaitingJob()}).Text(Colours::kOff);
  EXPECT_NE(text.find("(needs 8 slots, 3 free)"), std::string::npos) << text;
  EXPECT_NE(text.find("waiting"), std::string::npos) << text;
}

TEST(JobViewTest, ShowHasReasonPlacementAndCosts) {
  proto::Job job = RunningJob(812);
  job.set_run_ms(65'000);
  proto::Placement& place = *job.add_placement();
  place.set_node("w1");
  for (const std::uint32_t pid : {0, 1, 2, 5}) place.add_pids(pid);
  const std::string text = JobText(job, 1'065'000, Colours::kOff);
  EXPECT_NE(text.find("on w1"), std::string::npos) << text;
  EXPECT_NE(text.find("pids 0-2,5"), std::string::npos) << text;
  EXPECT_NE(text.find("1:05"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  w  406.000 ms"), std::string::npos) << text;
}

TEST(JobViewTest, WhatSuperstepsSayNothingOfIsADash) {
  proto::Job job = RunningJob(812);
  const auto shown = [&job] { return JobText(job, 0, Colours::kOff); };
  EXPECT_NE(shown().find("\n  g  - "), std::string::npos) << shown();
  EXPECT_NE(shown().find("\n  l  - "), std::string::npos) << shown();
  EXPECT_TRUE(JobJson(job)["totals"]["l_ns"].is_null());
  proto::JobTotals& totals = *job.mutable_totals();
  totals.mutable_fit()->set_g_ns_per_byte(7.58);
  totals.mutable_fit()->set_g_error_ns_per_byte(0.758);
  totals.mutable_fit()->set_l_ns(2980);
  totals.mutable_fit()->set_l_error_ns(298);
  EXPECT_NE(shown().find("\n  g  7.580 ns +- 10 % "), std::string::npos) << shown();
  EXPECT_NE(shown().find("\n  l  2.980 us +- 10 % "), std::string::npos) << shown();
  EXPECT_EQ(JobJson(job)["totals"]["l_ns"], 2980);
  EXPECT_TRUE(JobJson(job)["totals"]["predicted_ns"].is_null());
}

TEST(JobViewTest, ShowsWhatIsPredictedAndWhoWasWaitedFor) {
  proto::Job job = RunningJob(812);
  proto::JobTotals& totals = *job.mutable_totals();
  totals.set_total_ns(4'000'000'000);
  totals.set_predicted_ns(3'000'000'000);
  totals.set_imbalance(1.5);
  proto::Straggler& straggler = *totals.add_stragglers();
  straggler.set_pid(3);
  straggler.set_node("w2");
  straggler.set_supersteps(7);
  straggler.set_cost_ns(5'000'000);
  const std::string shown = JobText(job, 0, Colours::kOff);
  EXPECT_NE(shown.find("l a superstep: 3.000 s, 25.0 % less than measured\n"), std::string::npos)
      << shown;
  EXPECT_NE(shown.find("most for pid 3 on w2: 5.000 ms in 7 supersteps\n"), std::string::npos)
      << shown;
  EXPECT_EQ(JobJson(job)["totals"]["stragglers"][0]["node"], "w2");
}

TEST(JobViewTest, SaysOfHowManySuperstepsNothingIsKnown) {
  proto::Job job = RunningJob(812);
  EXPECT_EQ(JobText(job, 0, Colours::kOff).find("in no sum"), std::string::npos);
  job.mutable_totals()->set_unmeasured(12);
  const std::string shown = JobText(job, 0, Colours::kOff);
  EXPECT_NE(
      shown.find("\n  12 of the supersteps are in no sum: what they took was lost with a node "),
      std::string::npos)
      << shown;
  EXPECT_EQ(JobJson(job)["totals"]["unmeasured_supersteps"], 12);
}

TEST(JobViewTest, AReasonThatRepeatsTheStateIsNotShown) {
  proto::Job job;
  job.set_state(proto::CANCELLED);
  job.set_reason("cancelled");
  EXPECT_EQ(JobText(job, 0, Colours::kOff).find("reason"), std::string::npos);
  job.set_reason("was to start after job 3");
  EXPECT_NE(JobText(job, 0, Colours::kOff).find("reason "), std::string::npos);
}

TEST(JobViewTest, ShowsWhatAJobWaitsForAsItWasWritten) {
  proto::Job job;
  for (const std::uint64_t before : {3u, 12u, 13u, 14u, 16u})
    job.mutable_spec()->add_after()->set_job(before);
  job.mutable_spec()->mutable_after(4)->set_any(true);
  job.mutable_spec()->mutable_after(3)->set_any(true);
  EXPECT_NE(JobText(job, 0, Colours::kOff).find("after        3,12-13,14:any,16:any\n"),
            std::string::npos);
}

TEST(JobViewTest, ShowTellsOfCheckpointsAndLosses) {
  proto::Job job = RunningJob(812);
  EXPECT_NE(JobText(job, 0, Colours::kOff).find("checkpoints  auto\n"), std::string::npos);
  proto::CheckpointStatus& status = *job.mutable_checkpoints();
  status.set_committed(0x7fff'1234'0000'0003);
  status.set_count(12);
  status.set_superstep(800);
  status.set_committed_unix_ms(1'008'000);
  status.set_image_bytes(1'200'000'000);
  status.set_written_bytes(120'000'000);
  status.set_pause_ns(14'000'000);
  status.set_cost_ns(50'000'000);
  status.set_interval_ns(12'300'000'000);
  status.set_given_up(2);
  status.set_last_failure("pid 3: descriptor 5 is a socket");
  for (const char* node : {"w1", "w2"}) status.add_holders(node);
  status.set_copies(2);
  proto::JobLoss& loss = *job.add_losses();
  loss.set_reason("worker w3 lost at superstep 812: lease expired");
  loss.set_resumed(true);
  loss.set_from_superstep(800);
  loss.set_after_ms(1400);
  job.add_losses()->set_reason("pid 1 was killed by signal 9 (Killed)");
  const std::string text = JobText(job, 1'010'000, Colours::kOff);
  for (const char* line :
       {"auto, every 12.3 s", "12 of superstep 800, 0:02 ago, on w1, w2, each image on 2",
        "1.2 GB, of which 120 MB were written", "50.0 ms, held the processes for 14.0 ms",
        "2, the last: pid 3: descriptor 5 is a socket",
        "worker w3 lost at superstep 812: lease expired; resumed from 800 in 1.4 s\n",
        "pid 1 was killed by signal 9 (Killed)\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
  job.mutable_losses(1)->set_resumed(true);
  job.mutable_losses(1)->set_from_start(true);
  EXPECT_NE(JobText(job, 0, Colours::kOff).find("(Killed); resumed from the start in 0.0 s"),
            std::string::npos);
}

TEST(JobViewTest, NamesStatesAsUsersKnowThem) {
  EXPECT_EQ(StateName(proto::SUCCEEDED), "succeeded");
  EXPECT_EQ(StateName(proto::NODE_DRAINED), "drained");
}

TEST(JobViewTest, TheTimeIsThatOfRunningWhateverClocksSay) {
  proto::Job job = RunningJob(1);
  job.set_run_ms(10'999);
  EXPECT_EQ(RunSeconds(job), 10);
  EXPECT_EQ(RunSeconds(WaitingJob()), 0);
}

TEST(JobJsonTest, HasAnExitStatusOnlyAtTheEnd) {
  proto::Job job = RunningJob(1);
  EXPECT_TRUE(JobJson(job).at("exit_status").is_null());
  job.set_state(proto::FAILED);
  job.set_exit_status(6);
  EXPECT_EQ(JobJson(job).at("exit_status"), 6);
  EXPECT_EQ(JobJson(job).at("state"), "failed");
  EXPECT_TRUE(JobJson(WaitingJob()).at("started_unix_ms").is_null());
}

TEST(JobJsonTest, HasCheckpointsAndLosses) {
  proto::Job job = RunningJob(1);
  job.mutable_spec()->mutable_checkpoints()->set_every_ms(300);
  EXPECT_TRUE(JobJson(job).at("checkpoints").at("committed_unix_ms").is_null());
  EXPECT_EQ(JobJson(job).at("checkpoint_policy"), "every=300ms");
  job.mutable_checkpoints()->set_count(3);
  job.add_losses()->set_reason("lost");
  EXPECT_EQ(JobJson(job).at("checkpoints").at("count"), 3);
  EXPECT_EQ(JobJson(job).at("losses").at(0).at("reason"), "lost");
  EXPECT_TRUE(JobJson(job).at("losses").at(0).at("after_ms").is_null());
}

TEST(JobJsonTest, StaysJsonWhateverAProgramPrints) {
  proto::LogLine line;
  line.set_text("\xff\"\n");
  const auto parsed = nlohmann::json::parse(JsonText(LogJson(line)), nullptr, false);
  EXPECT_TRUE(parsed.is_object());
}

TEST(TopScreenTest, CountsWhatHappenedSinceTheLastLook) {
  TopScreen screen;
  TopSample sample;
  sample.jobs = {RunningJob(100)};
  sample.taken_ns = 5'000'000'000;
  sample.taken_unix_ms = 1'010'000;
  EXPECT_NE(screen.Show(sample, Colours::kOff).find("  10  "), std::string::npos);
  sample.jobs[0] = RunningJob(700);
  sample.taken_ns += 2'000'000'000;
  const std::string text = screen.Show(sample, Colours::kOff);
  EXPECT_NE(
      text.find(
          "running  8         700    300  2.0 kB         50      20          5          10  0:10"),
      std::string::npos)
      << text;
}

TEST(TopScreenTest, TellsOfJobsThatRecoverOrAreSuspended) {
  TopSample sample{};
  for (const proto::JobState state : {proto::RUNNING, proto::RECOVERING, proto::SUSPENDED}) {
    sample.jobs.emplace_back().set_state(state);
  }
  const std::string text = TopScreen().Show(sample, Colours::kOff);
  EXPECT_NE(text.find("jobs: 1 running, 0 waiting, 1 recovering, 1 suspended\n"), std::string::npos)
      << text;
}

TEST(TopScreenTest, NamesElementsOfArraysByTheirIndex) {
  TopSample sample{};
  sample.jobs.push_back(WaitingJob());
  sample.jobs[0].mutable_array()->set_index(4);
  const std::string text = TopScreen().Show(sample, Colours::kOff);
  EXPECT_NE(text.find(WaitingJob().spec().name() + "[4] "), std::string::npos) << text;
}

TEST(TopScreenTest, CountsSlotsOfNodesThatTakeJobs) {
  TopSample sample{};
  for (const proto::NodeState state : {proto::NODE_UP, proto::NODE_UP, proto::NODE_DRAINED}) {
    proto::Node& node = *sample.nodes.add_nodes();
    node.set_state(state);
    node.mutable_spec()->set_slots(4);
    node.set_slots_used(1);
  }
  sample.jobs.push_back(WaitingJob());
  const std::string text = TopScreen().Show(sample, Colours::kOff);
  EXPECT_NE(text.find("nodes: 2 up, 1 drained, 0 lost   slots: 3 used of 8   jobs: 0 running, 1 "
                      "waiting"),
            std::string::npos)
      << text;
}

TEST(LinePrefixerTest, PrefixesEachLineOnce) {
  LinePrefixer prefixer("[3] ");
  EXPECT_EQ(prefixer.Add("a\nb"), "[3] a\n[3] b");
  EXPECT_EQ(prefixer.Add("c\n"), "c\n");
  EXPECT_EQ(prefixer.Add("d"), "[3] d");
  prefixer.BeginAnew();
  EXPECT_EQ(prefixer.Add("e\n"), "[3] e\n");
  EXPECT_EQ(prefixer.Add(""), "");
}

TEST(ProgressTextTest, FitsTheTerminal) {
  const std::string half = ProgressText(500'000, 1'000'000, 1'000'000'000, 80);
  EXPECT_EQ(half.size(), 80u) << half;
  EXPECT_NE(half.find(" 50%  500 kB of 1.0 MB, 500 kB/s"), std::string::npos) << half;
  EXPECT_EQ(ProgressText(1, 2, 1, 20).size(), 20u);
  EXPECT_NE(ProgressText(0, 0, 0, 80).find("100%"), std::string::npos);
}

proto::Job StuckJob() {
  proto::Job job = RunningJob(10);
  proto::BarrierWait& one = *job.add_barrier_waits();
  one.set_node("w1");
  one.set_arrived(4);
  one.set_for_ms(12'700);
  proto::BarrierWait& two = *job.add_barrier_waits();
  two.set_node("w2");
  two.set_arrived(2);
  two.set_late_count(3);
  two.set_for_ms(12'300);
  proto::LateProcess& late = *two.add_late();
  late.set_pid(5);
  late.set_os_pid(4711);
  late.set_lateness(proto::LATE_STOPPED);
  late.set_begun(true);
  return job;
}

TEST(BarrierViewTest, ShowNamesWhoIsWaitedFor) {
  const std::string text = JobText(StuckJob(), 2'000'000, Colours::kOff);
  EXPECT_NE(text.find("waits for    pid 5 on w2 (process 4711): stopped, for 12 s\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("waits for    2 more\n"), std::string::npos) << text;
}

TEST(BarrierViewTest, ShowSaysForHowManyMessagesAProcessWaits) {
  proto::Job job = StuckJob();
  proto::LateProcess& late = *job.mutable_barrier_waits(1)->mutable_late(0);
  late.set_lateness(proto::LATE_COUNTING);
  late.set_superstep(7);
  late.set_messages_expected(3);
  late.set_messages_here(2);
  const std::string text = JobText(job, 2'000'000, Colours::kOff);
  EXPECT_NE(text.find("(process 4711): waits for 3 messages in superstep 7, has 2, for 12 s\n"),
            std::string::npos)
      << text;
}

TEST(BarrierViewTest, NobodyIsLateWhereAllCompute) {
  proto::Job job = StuckJob();
  job.mutable_barrier_waits()->DeleteSubrange(0, 1);
  proto::BarrierWait& wait = *job.mutable_barrier_waits(0);
  wait.set_arrived(0);
  wait.mutable_late(0)->set_lateness(proto::LATE_COMPUTING);
  EXPECT_EQ(JobText(job, 2'000'000, Colours::kOff).find("waits for"), std::string::npos);
  wait.mutable_late(0)->set_lateness(proto::LATE_DEAD);
  EXPECT_NE(JobText(job, 2'000'000, Colours::kOff).find("waits for"), std::string::npos);
}

TEST(BarrierViewTest, TopNamesWhoIsWaitedForBelowTheTable) {
  TopSample sample{.jobs = {}, .nodes = {}, .taken_ns = 1, .taken_unix_ms = 2'000'000};
  sample.jobs.push_back(StuckJob());
  const std::string text = TopScreen().Show(sample, Colours::kOff);
  EXPECT_NE(text.find("\njob 7 waits for pid 5 on w2 (process 4711): stopped, for 12 s; 2 more\n"),
            std::string::npos)
      << text;
}

TEST(CheckpointViewTest, ShowSaysSinceWhenGroupsHinderACheckpoint) {
  proto::Job job = RunningJob(10);
  EXPECT_EQ(JobText(job, 2'000'000, Colours::kOff).find("not saved"), std::string::npos);
  job.mutable_checkpoints()->set_in_groups(4);
  job.mutable_checkpoints()->set_in_groups_ms(312'400);
  const std::string text = JobText(job, 2'000'000, Colours::kOff);
  EXPECT_NE(text.find("not saved    waits for a barrier of the root group: 4 processes have had"
                      " groups open for 5:12\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(JobJson(job)["checkpoints"]["in_groups_ms"], 312'400);
  job.mutable_checkpoints()->set_in_groups(0);
  job.mutable_checkpoints()->set_in_calls(true);
  EXPECT_NE(JobText(job, 2'000'000, Colours::kOff)
                .find("not saved    waits for a bsp_sync with no group open: areas are not saved in"
                      " collective calls, and there was nothing else for 5:12\n"),
            std::string::npos);
  EXPECT_EQ(JobJson(job)["checkpoints"]["in_calls"], true);
}

TEST(BarrierViewTest, JsonHasEachNodesWord) {
  const auto waits = JobJson(StuckJob())["barrier_waits"];
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[1]["late"][0]["state"], "stopped");
  EXPECT_EQ(waits[1]["late_count"], 3);
}

}  // namespace
}  // namespace bspnow::client
