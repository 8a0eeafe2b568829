#include "client/profile/job_profile.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

constexpr std::uint64_t kInProgram = std::uint64_t{1} << 63;

struct Did {
  std::uint64_t compute_ns;
  std::uint64_t wait_ns;
  std::uint64_t out_bytes;
  std::uint64_t in_bytes;
  std::uint32_t site;
};

void Record(proto::Profile& profile, std::uint32_t pid, const std::vector<Did>& supersteps) {
  proto::ProcessProfile& of = *profile.add_of();
  profile.set_processes(profile.of_size());
  of.set_pid(pid);
  of.set_supersteps(supersteps.size());
  of.set_supersteps_of_record(1);
  for (std::uint64_t site = 0; site < 2; ++site) of.add_sites()->set_address(kInProgram + site);
  for (const Did& did : supersteps) {
    of.add_compute_ns(did.compute_ns);
    of.add_wait_ns(did.wait_ns);
    of.add_release_ns(10);
    of.add_exchange_ns(20);
    of.add_bytes_out(did.out_bytes);
    of.add_bytes_in(did.in_bytes);
    of.add_messages_out(1);
    of.add_messages_in(1);
    of.add_site(did.site);
  }
}

/// The slower one changes from superstep to superstep.
proto::Profile Uneven() {
  proto::Profile profile;
  Record(profile, 0, {{100, 0, 8, 0, 1}, {30, 70, 0, 16, 2}, {50, 0, 0, 0, 1}});
  Record(profile, 1, {{40, 60, 0, 8, 1}, {100, 0, 16, 0, 2}, {50, 0, 0, 0, 1}});
  return profile;
}

proto::Job JobOf(double g, double l) {
  proto::Job job;
  job.mutable_spec()->set_name("uneven");
  job.mutable_totals()->set_processes(2);
  job.mutable_totals()->mutable_fit()->set_g_ns_per_byte(g);
  job.mutable_totals()->mutable_fit()->set_l_ns(l);
  return job;
}

TEST(JobProfileTest, AColumnHasTheLargestOfEachSuperstep) {
  const JobProfile profile = *MakeJobProfile(Uneven(), JobOf(1, 10));
  ASSERT_EQ(profile.columns.size(), 3u);
  EXPECT_EQ(profile.columns[0].all.w_ns, 100);
  EXPECT_EQ(profile.columns[1].all.h_bytes, 16);
  EXPECT_EQ(profile.columns[1].start_ns, 130);
  EXPECT_EQ(profile.all.w_ns, 250);
  EXPECT_EQ(profile.all.h_bytes, 24);
  EXPECT_EQ(profile.all.time_ns(), 130 + 130 + 80);
}

TEST(JobProfileTest, CallsHaveTheirSupersteps) {
  const JobProfile profile = *MakeJobProfile(Uneven(), JobOf(1, 10));
  ASSERT_EQ(profile.calls.size(), 2u);
  EXPECT_EQ(profile.calls[0].all.supersteps, 2u);
  EXPECT_EQ(profile.calls[0].all.w_ns, 150);
  EXPECT_EQ(profile.calls[1].all.h_bytes, 16);
  EXPECT_EQ(profile.columns[1].call, 1u);
}

void AddGroupSite(proto::ProcessProfile& of, std::uint64_t address, std::uint64_t supersteps) {
  proto::ProfileSite& site = *of.add_group_sites();
  site.set_address(address);
  site.set_supersteps(supersteps);
  site.set_wait_ns(20 * supersteps);
  site.set_release_ns(4 * supersteps);
  site.set_bytes_out(8 * supersteps);
  site.set_messages_out(supersteps);
}

TEST(JobProfileTest, CallsOfGroupsAreBesideThoseOfTheJob) {
  proto::Profile profile = Uneven();
  AddGroupSite(*profile.mutable_of(0), kInProgram + 7, 3);
  AddGroupSite(*profile.mutable_of(0), kInProgram, 1);  // It ends supersteps of the job, too.
  AddGroupSite(*profile.mutable_of(1), kInProgram + 7, 5);
  const JobProfile made = *MakeJobProfile(profile, JobOf(1, 10));
  ASSERT_EQ(made.group_calls.size(), 2u);
  EXPECT_EQ(made.group_calls[0].all.supersteps, 8u);
  EXPECT_EQ(made.group_calls[0].all.out_bytes, 64);
  EXPECT_EQ(made.group_calls[0].all.messages, 8);
  EXPECT_EQ(made.group_calls[0].all.time_ns(), 24 * 8 / 2.0);  // Of a process on average.
  EXPECT_EQ(made.groups.supersteps, 9u);
  EXPECT_EQ(made.groups.time_ns(), 24 * 9 / 2.0);
  const JobProfile without = *MakeJobProfile(Uneven(), JobOf(1, 10));
  EXPECT_EQ(made.all.time_ns(), without.all.time_ns());
  EXPECT_EQ(made.all.h_bytes, without.all.h_bytes);
  EXPECT_EQ(made.calls[0].all.supersteps, without.calls[0].all.supersteps);
}

TEST(JobProfileTest, AFasterNodeWaitsForTheOther) {
  proto::Profile profile;
  Record(profile, 0, {{100, 0, 0, 0, 1}});
  Record(profile, 1, {{40, 0, 0, 0, 1}});
  profile.mutable_of(0)->set_node("a");
  profile.mutable_of(1)->set_node("b");
  profile.mutable_of(1)->set_release_ns(0, 70);  // Of which pid 0 computed for 60.
  const JobProfile made = *MakeJobProfile(profile, JobOf(1, 1));
  EXPECT_EQ(made.columns[0].of[1].wait_ns, 60);
  EXPECT_EQ(made.columns[0].of[1].release_ns, 10);
  EXPECT_EQ(made.columns[0].of[0].release_ns, 10);
}

TEST(JobProfileTest, WhatAnotherNodeDeliveredWasWaitedFor) {
  proto::Profile profile;
  Record(profile, 0, {{10, 0, 0, 0, 1}, {10, 0, 0, 0, 1}});
  Record(profile, 1, {{10, 0, 0, 0, 1}, {10, 0, 0, 0, 1}});
  profile.mutable_of(0)->set_node("a");
  profile.mutable_of(1)->set_node("b");
  profile.mutable_of(1)->set_exchange_ns(0, 2020);  // It was saved, say.
  profile.mutable_of(0)->set_release_ns(1, 2010);
  const JobProfile made = *MakeJobProfile(profile, JobOf(1, 1));
  EXPECT_EQ(made.columns[0].of[0].wait_ns, 0);
  EXPECT_EQ(made.columns[1].of[0].wait_ns, 2000);
  EXPECT_EQ(made.columns[1].of[0].release_ns, 10);
  EXPECT_EQ(made.columns[1].of[1].release_ns, 10);
}

TEST(JobProfileTest, PredictsByTheModel) {
  const JobProfile profile = *MakeJobProfile(Uneven(), JobOf(2, 10));
  EXPECT_EQ(PredictedNs(profile.model, profile.all), 250 + 2 * 24 + 3 * 10);
  EXPECT_EQ(PredictedNs({}, profile.all), std::nullopt);
  EXPECT_EQ(PredictedNs({.g_ns_per_byte = {}, .l_ns = 10}, profile.columns[2].all), 60);
}

// As libbsp merges: see ProfilePart::Halve.
proto::Profile Merged(const proto::Profile& of_each) {
  proto::Profile merged = of_each;
  for (proto::ProcessProfile& of : *merged.mutable_of()) {
    of.set_supersteps_of_record(2);
    const auto halve = [](auto& column) {
      for (int i = 0; 2 * i < column.size(); ++i) {
        column[i] = column[2 * i];
        if (2 * i + 1 < column.size()) column[i] += column[2 * i + 1];
      }
      column.Truncate((column.size() + 1) / 2);
    };
    for (auto* column : {of.mutable_compute_ns(), of.mutable_wait_ns(), of.mutable_release_ns(),
                         of.mutable_exchange_ns(), of.mutable_bytes_out(), of.mutable_bytes_in()})
      halve(*column);
    halve(*of.mutable_messages_out());
    halve(*of.mutable_messages_in());
    of.clear_site();
    of.add_site(0);
    of.add_site(1);
    of.mutable_sites(0)->set_supersteps(2);
    of.mutable_sites(0)->set_compute_ns(of.pid() == 0 ? 150 : 90);
    of.mutable_sites(1)->set_supersteps(1);
    of.mutable_sites(1)->set_compute_ns(of.pid() == 0 ? 30 : 100);
  }
  return merged;
}

TEST(JobProfileTest, MergedColumnsAreRaisedToTheTotals) {
  proto::Job job = JobOf(1, 10);
  job.mutable_totals()->set_w_ns(250);
  job.mutable_totals()->set_h_bytes(24);
  const JobProfile profile = *MakeJobProfile(Merged(Uneven()), job);
  ASSERT_EQ(profile.columns.size(), 2u);
  EXPECT_EQ(profile.columns[0].call, kSeveralCalls);
  EXPECT_EQ(profile.columns[1].all.supersteps, 1u);
  EXPECT_NEAR(profile.all.w_ns, 250, 1e-6);
  EXPECT_NEAR(profile.all.h_bytes, 24, 1e-6);
  EXPECT_EQ(profile.all.time_ns(), 340);
  EXPECT_NEAR(profile.calls[0].all.w_ns + profile.calls[1].all.w_ns, 250, 1e-6);
}

// The collectives and bsp_sync of a language's library, say.
TEST(JobProfileTest, PlacesInLibrariesAreOneCallThatHasAllTheirSupersteps) {
  proto::Profile profile = Merged(Uneven());
  for (proto::ProcessProfile& of : *profile.mutable_of()) {
    for (int i = 0; i < 2; ++i) {
      proto::ProfileSite& site = *of.mutable_sites(i);
      site.set_address(7000 + 100 * of.pid() + i);
      site.set_supersteps(5000);
      site.set_compute_ns(of.pid() == 0 ? 60 : 40);
      site.set_bytes_out(8);
    }
  }
  const JobProfile made = *MakeJobProfile(profile, JobOf(1, 10));
  ASSERT_EQ(made.calls.size(), 1u);
  EXPECT_EQ(made.calls[0].address, kInLibrary);
  EXPECT_EQ(made.calls[0].all.supersteps, 10'000u);
  EXPECT_EQ(made.calls[0].all.w_ns, 120);
  EXPECT_EQ(made.calls[0].all.compute_ns, 100);
  EXPECT_EQ(made.calls[0].all.h_bytes, 16);
}

TEST(JobProfileTest, AProcessThatCameLessFarEndsTheColumns) {
  proto::Profile profile = Merged(Uneven());
  const proto::Profile fine = Uneven();
  *profile.mutable_of(1) = fine.of(1);
  EXPECT_EQ(MakeJobProfile(profile, JobOf(1, 1))->columns.size(), 2u);
}

TEST(JobProfileTest, RefusesWhatContradictsItself) {
  for (const auto& damage : std::vector<void (*)(proto::ProcessProfile&)>{
           [](auto& of) { of.add_wait_ns(1); }, [](auto& of) { of.set_supersteps_of_record(3); },
           [](auto& of) { of.set_supersteps(7); }, [](auto& of) { of.set_site(1, 3); },
           [](auto& of) { of.add_images(3); }}) {
    proto::Profile profile = Uneven();
    damage(*profile.mutable_of(1));
    EXPECT_FALSE(MakeJobProfile(profile, JobOf(1, 1)).ok());
  }
}

TEST(JobProfileTest, CondensesToColumnsOfLikeTime) {
  proto::Profile profile;
  std::vector<Did> many(10'000, Did{10, 0, 1, 1, 1});
  many[5'000].compute_ns = 1'000'000;
  Record(profile, 0, many);
  const JobProfile made = *MakeJobProfile(profile, JobOf(1, 1));
  const std::vector<Column> condensed = Condense(made.columns, 100);
  EXPECT_LE(condensed.size(), 200u);
  SuperstepFigures sum;
  double longest_ns = 0;
  for (const Column& column : condensed) {
    AddTo(sum, column.all);
    longest_ns = std::max(longest_ns, column.all.time_ns() / double(column.all.supersteps));
  }
  EXPECT_EQ(sum.supersteps, 10'000u);
  EXPECT_EQ(longest_ns, 1'000'030);  // It stands alone.
}

TEST(MachineTest, OneProcessorRunsTheProcessesInTurn) {
  const JobProfile profile = *MakeJobProfile(Uneven(), JobOf(1, 10));
  const MachinePrediction same = *PredictOn({2, 1, 2, 10}, profile);
  EXPECT_EQ(same.total_ns, 250 + 2 * 24 + 3 * 10);
  const MachinePrediction one = *PredictOn({1, 2, 0, 1'000}, profile);
  EXPECT_EQ(one.w_ns, (140 + 130 + 100) / 2.0);
  EXPECT_EQ(one.total_ns, one.w_ns + 3'000);
  EXPECT_FALSE(PredictOn({3, 1, 1, 1}, profile).ok());
}

// In the merged record two computed alike, but one after the other.
TEST(MachineTest, FewerProcessorsAreNoFasterWhereRecordsAreMerged) {
  proto::Profile of_each;
  for (std::uint32_t pid = 0; pid < 4; ++pid)
    Record(of_each, pid,
           {{pid == 0 ? 100u : 0, 0, 0, 0, 1}, {pid == 2 ? 100u : 0, 0, 0, 0, 1}, {0, 0, 0, 0, 1}});
  proto::Job job = JobOf(1, 10);
  job.mutable_totals()->set_w_ns(200);
  const JobProfile profile = *MakeJobProfile(Merged(of_each), job);
  EXPECT_NEAR(PredictOn({4, 1, 1, 1}, profile)->w_ns, 200, 1e-6);
  EXPECT_NEAR(PredictOn({2, 1, 1, 1}, profile)->w_ns, 200, 1e-6);
}

TEST(MachineTest, IsFourNumbers) {
  EXPECT_EQ(ParseMachine("16,1.5,0.8,25")->l_ns, 25'000);
  for (const char* wrong :
       {"", "16,1.5,0.8", "0,1,1,1", "4,0,1,1", "4,1,-1,1", "4,1,1,nan", "a,1,1,1"})
    EXPECT_FALSE(ParseMachine(wrong).ok()) << wrong;
}

TEST(SimulationTest, TimesAreThoseOfTheModel) {
  JobProfile profile = *MakeJobProfile(Uneven(), JobOf(7, 7));
  Simulate(*ParseSimulation("r=2,g=3,l=0.5"), profile);
  EXPECT_EQ(profile.all.time_ns(), 250 / 2.0 + 24 * 3 + 3 * 500);
  EXPECT_EQ(profile.columns[1].all.time_ns(), 50 + 16 * 3 + 500);
  EXPECT_EQ(profile.columns[2].start_ns, 2 * 50 + 24 * 3 + 2 * 500);
  EXPECT_EQ(profile.columns[1].of[0].wait_ns, 50 - 15);
  EXPECT_EQ(profile.calls[0].all.time_ns(), 75 + 8 * 3 + 2 * 500);
  EXPECT_EQ(PredictedNs(profile.model, profile.all), profile.all.time_ns());
  EXPECT_EQ(CostSignature(profile.all), "125 ns + 24 g + 3 l");
}

TEST(SimulationTest, WithoutComputingTheRestStays) {
  JobProfile profile = *MakeJobProfile(Uneven(), JobOf(7, 7));
  Simulate(*ParseSimulation("w=0,l=0,g=3"), profile);
  EXPECT_EQ(profile.all.time_ns(), 24 * 3);
  EXPECT_EQ(profile.calls[1].all.w_ns, 0);
}

TEST(SimulationTest, MergedSuperstepsAddUpToTheModel) {
  proto::Job job = JobOf(7, 7);
  job.mutable_totals()->set_w_ns(250);
  job.mutable_totals()->set_h_bytes(24);
  JobProfile profile = *MakeJobProfile(Merged(Uneven()), job);
  Simulate(*ParseSimulation("g=3,l=1"), profile);
  EXPECT_NEAR(profile.all.time_ns(), 250 + 24 * 3 + 3 * 1000, 1e-6);
  EXPECT_EQ(CostSignature(profile.all), "250 ns + 24 g + 3 l");
}

TEST(SimulationTest, IsNamedNumbers) {
  const Simulation simulation = *ParseSimulation("n12=200,p=16,b=64,g=0.8,l=25");
  EXPECT_EQ(simulation.machine.p, 16u);
  EXPECT_EQ(simulation.machine.rate, 1);
  EXPECT_EQ(simulation.machine.l_ns, 25'000);
  EXPECT_EQ(simulation.half_bytes, 200u);
  EXPECT_EQ(simulation.block_bytes, 64u);
  EXPECT_TRUE(simulation.computing_counts);
  for (const char* wrong : {"", "g=1", "l=1", "g=1,l=1,", "g=1,l=1,g=1", "g=1,l=-1", "g=nan,l=1",
                            "g=inf,l=1", "p=0,g=1,l=1", "g=1,l=1,w=1", "g=1,l=1,x=1",
                            "g=1,l=1,n12=-1", "g=1,l=1,b=1.5", "4,1,1,1", "g=1,l=1,r=0"})
    EXPECT_FALSE(ParseSimulation(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace bspnow::client
