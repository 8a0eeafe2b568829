#include "coordinator/core/jobs/job_spec.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace bspnow::coordinator {
namespace {

const std::string kSha256(64, 'a');

proto::JobSpec Spec() {
  proto::JobSpec spec;
  spec.set_nprocs(4);
  spec.mutable_program()->set_name("a.out");
  spec.mutable_program()->set_sha256(kSha256);
  spec.add_arguments("a.out");
  return spec;
}

/// What is wrong with a spec after this change.
std::string Complaint(const std::function<void(proto::JobSpec&)>& change) {
  proto::JobSpec spec = Spec();
  change(spec);
  return std::string(CheckJobSpec(spec).message());
}

TEST(JobSpecTest, TakesAnOrdinaryJob) { EXPECT_TRUE(CheckJobSpec(Spec()).ok()); }

TEST(JobSpecTest, RefusesWhatCanNeverRun) {
  EXPECT_NE(Complaint([](auto& s) { s.set_nprocs(0); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.set_nprocs(kProcessesMax + 1); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.set_nodes(5); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.clear_arguments(); }), "");
  EXPECT_EQ(Complaint([](auto& s) {
              s.set_nodes(2);
              s.set_per_node(2);
            }),
            "");
  EXPECT_NE(Complaint([](auto& s) {
              s.set_nodes(3);
              s.set_per_node(1);
            }),
            "");
}

TEST(JobSpecTest, RefusesNamesAndTextsThatAreNone) {
  EXPECT_NE(Complaint([](auto& s) { s.mutable_program()->set_name("../a.out"); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.mutable_program()->set_sha256("abc"); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.add_environment("no value"); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.add_environment("=value"); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.add_arguments(std::string("a\0b", 3)); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.add_constraints(""); }), "");
  EXPECT_EQ(Complaint([](auto& s) { s.add_environment("NAME="); }), "");
}

TEST(JobSpecTest, RefusesTwoFilesOfOneName) {
  const auto add = [](proto::JobSpec& spec, const char* name) {
    spec.add_files()->set_name(name);
    spec.mutable_files(spec.files_size() - 1)->set_sha256(kSha256);
  };
  EXPECT_EQ(Complaint([&](auto& s) { add(s, "data"); }), "");
  EXPECT_NE(Complaint([&](auto& s) { add(s, "a.out"); }), "");
  EXPECT_NE(Complaint([&](auto& s) {
              add(s, "data");
              add(s, "data");
            }),
            "");
}

TEST(JobSpecTest, InputIsAFileOfAJobWithoutAClient) {
  const auto with_input = [](auto& spec) {
    spec.add_files()->set_name("data");
    spec.mutable_files(0)->set_sha256(kSha256);
    spec.set_input("data");
  };
  EXPECT_EQ(Complaint(with_input), "");
  EXPECT_NE(Complaint([](auto& s) { s.set_input("data"); }), "");
  EXPECT_NE(Complaint([&](auto& s) {
              with_input(s);
              s.set_attached(true);
            }),
            "");
}

TEST(JobSpecTest, LimitsFilesAndBytes) {
  EXPECT_NE(Complaint([](auto& s) {
              for (int i = 0; i <= kFilesMax; ++i) s.add_files();
            }),
            "");
  EXPECT_NE(Complaint([](auto& s) { s.add_arguments(std::string(kSpecBytesMax, 'x')); }), "");
}

TEST(JobSpecTest, RefusesPoliciesThatAreNone) {
  EXPECT_EQ(Complaint([](auto& s) { s.mutable_checkpoints()->set_every_supersteps(1); }), "");
  EXPECT_EQ(Complaint([](auto& s) { s.mutable_checkpoints()->set_every_ms(300); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.mutable_checkpoints()->set_every_ms(1); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.mutable_checkpoints()->set_every_ms(~0ull); }), "");
  EXPECT_NE(Complaint([](auto& s) {
              s.mutable_checkpoints()->set_off(true);
              s.mutable_checkpoints()->set_every_ms(300);
            }),
            "");
  EXPECT_EQ(Complaint([](auto& s) { s.set_restarts_max(-1); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.set_restarts_max(-2); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.set_restarts_max(kRestartsMax + 1); }), "");
  EXPECT_NE(Complaint([](auto& s) { s.set_reconnect_ms(kReconnectMsMax + 1); }), "");
}

}  // namespace
}  // namespace bspnow::coordinator
