#include "coordinator/core/caller.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

const Caller kAlice{.user = "alice", .scopes = kScopesOfUser};
const Caller kRoot{.user = "root", .scopes = kAllScopes};

TEST(CallerTest, WhoSubmitsOwnsTheJob) {
  proto::JobSpec spec;
  ASSERT_TRUE(TakeOwnership(kAlice, spec).ok());
  EXPECT_EQ(spec.user(), "alice");
  ASSERT_TRUE(TakeOwnership(kAlice, spec).ok());
}

TEST(CallerTest, NobodySubmitsForAnotherButAnAdministrator) {
  proto::JobSpec spec;
  spec.set_user("bob");
  EXPECT_EQ(TakeOwnership(kAlice, spec).code(), absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(TakeOwnership(kRoot, spec).ok());
  EXPECT_EQ(spec.user(), "bob");
}

TEST(CallerTest, AJobIsItsOwnersAndTheAdministrators) {
  EXPECT_TRUE(CheckOwner(kAlice, std::string("alice"), 7).ok());
  EXPECT_TRUE(CheckOwner(kRoot, std::string("alice"), 7).ok());
  const absl::Status denied = CheckOwner(kAlice, std::string("bob"), 7);
  EXPECT_EQ(denied.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(denied.message(),
            "job 7 is of user bob, and you are alice; its owner or an administrator may do that");
  EXPECT_EQ(CheckOwner(kRoot, absl::NotFoundError("no job 7"), 7).code(),
            absl::StatusCode::kNotFound);
}

TEST(CallerTest, OnlyAdministratorsAccountForOthers) {
  const auto limited = [](const Caller& caller, const std::string& user) {
    proto::ListJobsRequest request;
    request.set_accounting(true);
    request.set_user(user);
    const absl::Status may = LimitAccounting(caller, request);
    return may.ok() ? request.user() : std::string(may.message());
  };
  EXPECT_EQ(limited(kAlice, ""), "alice");
  EXPECT_EQ(limited(kAlice, "alice"), "alice");
  EXPECT_EQ(limited(kAlice, "bob"),
            "what jobs of user bob have used is for that user and for administrators, and you are "
            "alice");
  EXPECT_EQ(limited(kRoot, ""), "");
  EXPECT_EQ(limited(kRoot, "bob"), "bob");
}

TEST(CallerTest, OthersSeeThatAJobRunsAndNotWhatItIs) {
  proto::Job job;
  proto::JobSpec& spec = *job.mutable_spec();
  spec.set_name("heat");
  spec.set_user("bob");
  spec.set_nprocs(4);
  spec.add_arguments("--password=x");
  spec.add_environment("KEY=x");
  spec.add_files()->set_name("secret");
  spec.set_directory("/home/bob");
  spec.set_output("/home/bob/out");
  ASSERT_TRUE(spec.ParseFromString(spec.SerializeAsString() + "\xC2\x3E\x04soon"));  // Field 1000.
  job.add_placement()->add_os_pids(4711);
  job.add_barrier_waits()->add_late()->set_os_pid(4711);
  job.set_state(proto::FAILED);
  job.set_reason("pid 0: cannot open /home/bob/x");
  job.set_files_lost("file secret: too large");
  job.set_cpu_ns(5);
  const proto::Job whole = job;
  HideFrom(kRoot, job);
  EXPECT_EQ(job.SerializeAsString(), whole.SerializeAsString());
  HideFrom(kAlice, job);
  EXPECT_EQ(job.spec().name(), "heat");
  EXPECT_EQ(job.spec().nprocs(), 4u);
  EXPECT_EQ(job.placement(0).os_pids_size(), 0);
  EXPECT_EQ(job.barrier_waits(0).late(0).os_pid(), 0u);
  EXPECT_EQ(job.cpu_ns(), 0u);
  const std::string seen = job.SerializeAsString();
  for (const char* hidden : {"password", "KEY", "secret", "/home/bob", "soon"})
    EXPECT_EQ(seen.find(hidden), std::string::npos) << hidden;
}

TEST(CallerTest, WhyANodeRestsIsForAdministrators) {
  proto::Node node;
  node.set_reason("for 8 s: cannot run in the directory /home/bob (--dir)");
  node.set_reason_for_users("for 8 s");
  proto::Node shown = node;
  HideFrom(kAlice, shown);
  EXPECT_EQ(shown.reason(), "for 8 s");
  EXPECT_TRUE(shown.reason_for_users().empty());
  HideFrom(kRoot, node);
  EXPECT_EQ(node.reason(), "for 8 s: cannot run in the directory /home/bob (--dir)");
  EXPECT_TRUE(node.reason_for_users().empty());
  shown.set_reason("its frame stream is not connected");
  HideFrom(kAlice, shown);
  EXPECT_EQ(shown.reason(), "its frame stream is not connected");
}

}  // namespace
}  // namespace bspnow::coordinator
