#include "coordinator/core/jobs/job_spec.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/ids.h"

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

TEST(JobSpecTest, RefusesAFileThatNoNodeCouldMake) {
  proto::JobSpec spec = Spec();
  proto::FileSpec& file = *spec.add_files();
  file.set_sha256(spec.program().sha256());
  file.set_name(std::string(255, 'x'));
  EXPECT_TRUE(CheckJobSpec(spec).ok());
  file.set_name(std::string(256, 'x'));
  EXPECT_FALSE(CheckJobSpec(spec).ok());
  file.set_name("x");
  while (file.name().size() < 3600) *file.mutable_name() += "/x";
  EXPECT_FALSE(CheckJobSpec(spec).ok());
}

TEST(JobSpecTest, AltersWhatIsGivenAndNothingElse) {
  proto::Job job;
  *job.mutable_spec() = Spec();
  job.mutable_spec()->set_priority(3);
  job.set_state(proto::WAITING);
  proto::AlterJobRequest request;
  request.set_name("new");
  request.set_time_limit_s(0);
  request.mutable_checkpoints()->set_off(true);
  EXPECT_TRUE(AlterJobSpec(request, job).ok());
  EXPECT_EQ(job.spec().name(), "new");
  EXPECT_EQ(job.spec().priority(), 3);
  EXPECT_TRUE(job.spec().checkpoints().off());
  request.set_nodes(5);
  request.set_name("newer");
  EXPECT_TRUE(absl::IsInvalidArgument(AlterJobSpec(request, job)));
  EXPECT_EQ(job.spec().name(), "new");
}

TEST(JobSpecTest, AlteredConstraintsReplaceAllThatItHad) {
  proto::Job job;
  *job.mutable_spec() = Spec();
  job.mutable_spec()->add_constraints("gpu");
  job.set_state(proto::WAITING);
  proto::AlterJobRequest request;
  for (const char* label : {"disk=ssd", "big"}) request.mutable_constraints()->add_labels(label);
  EXPECT_TRUE(AlterJobSpec(request, job).ok());
  EXPECT_EQ(job.spec().constraints_size(), 2);
  EXPECT_EQ(job.spec().constraints(0), "disk=ssd");
  request.mutable_constraints()->add_labels("=ssd");
  EXPECT_TRUE(absl::IsInvalidArgument(AlterJobSpec(request, job)));
  EXPECT_EQ(job.spec().constraints_size(), 2);
  for (int i = 0; i < kConstraintsMax; ++i) request.mutable_constraints()->add_labels("big");
  EXPECT_TRUE(absl::IsResourceExhausted(AlterJobSpec(request, job)));
  request.mutable_constraints()->clear_labels();
  EXPECT_TRUE(AlterJobSpec(request, job).ok());
  EXPECT_EQ(job.spec().constraints_size(), 0);
  job.set_started_unix_ms(1);
  EXPECT_EQ(AlterJobSpec(request, job).message(),
            "job 0 is waiting: it has started, and --constraint is settled then; cancel it and "
            "submit it again");
}

TEST(JobSpecTest, AltersNothingThatComesTooLate) {
  proto::Job job;
  *job.mutable_spec() = Spec();
  job.set_job(7);
  proto::AlterJobRequest priority;
  priority.set_priority(1);
  proto::AlterJobRequest memory;
  memory.set_memory_bytes(1);
  job.set_state(proto::RUNNING);
  job.set_started_unix_ms(1);
  EXPECT_EQ(AlterJobSpec(priority, job).message(),
            "job 7 is running: the priority of a job that runs has no effect");
  job.set_state(proto::RECOVERING);  // It waits again, with its images.
  EXPECT_TRUE(AlterJobSpec(priority, job).ok());
  EXPECT_EQ(AlterJobSpec(memory, job).message(),
            "job 7 is recovering: it has started, and --memory is settled then; cancel it and "
            "submit it again");
  job.set_state(proto::CANCELLED);
  EXPECT_EQ(AlterJobSpec(priority, job).message(), "job 7 was cancelled: it is over");
}

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

TEST(JobSpecTest, RefusesAFileInAnotherFile) {
  const auto complaint = [](const char* one, const char* other) {
    return Complaint([&](proto::JobSpec& spec) {
      for (const char* const name : {one, other}) {
        spec.add_files()->set_name(name);
        spec.mutable_files(spec.files_size() - 1)->set_sha256(kSha256);
      }
    });
  };
  EXPECT_EQ(complaint("a/b", "a/c"), "");
  EXPECT_EQ(complaint("a", "ab/c"), "");
  EXPECT_EQ(complaint("a", "a/b"),
            "the job's file \"a/b\" is to lie in \"a\", which is a file, too");
  EXPECT_NE(complaint("a/b/c/d", "a/b"), "");
  EXPECT_NE(complaint("data", "a.out/data"), "");
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

// An empty text is two bytes of a message.
TEST(JobSpecTest, LimitsHowManyTextsThereAre) {
  const auto many = [](int count, void (proto::JobSpec::*add)(const std::string&)) {
    return Complaint([&](proto::JobSpec& spec) {
      for (int i = 0; i < count; ++i) (spec.*add)("A=");
    });
  };
  EXPECT_EQ(many(kArgumentsMax - 1, &proto::JobSpec::add_arguments), "");
  EXPECT_NE(many(kArgumentsMax, &proto::JobSpec::add_arguments), "");
  EXPECT_NE(many(kVariablesMax + 1, &proto::JobSpec::add_environment), "");
  EXPECT_EQ(many(kConstraintsMax, &proto::JobSpec::add_constraints), "");
  EXPECT_NE(many(kConstraintsMax + 1, &proto::JobSpec::add_constraints), "");
}

TEST(JobSpecTest, LimitsTextsThatListsShow) {
  EXPECT_EQ(Complaint([](proto::JobSpec& spec) { spec.set_name(std::string(256, 'n')); }), "");
  EXPECT_EQ(Complaint([](proto::JobSpec& spec) { spec.set_name(std::string(257, 'n')); }),
            "the name of the job (--name) has 257 bytes; at most 256 are allowed");
  for (const auto set :
       {+[](proto::JobSpec& spec) { spec.set_directory(std::string(4097, '/')); },
        +[](proto::JobSpec& spec) { spec.set_output(std::string(4097, 'o')); },
        +[](proto::JobSpec& spec) { spec.add_constraints(std::string(257, 'c')); }})
    EXPECT_NE(Complaint(set), "");
}

// Workers may be newer, and know it.
TEST(JobSpecTest, WhatIsNotKnownHereStaysUntilTheJobHasEnded) {
  proto::JobSpec spec = Spec();
  const std::string known = spec.SerializeAsString();
  ASSERT_TRUE(spec.ParseFromString(known + "\xC2\x3E\x03new"));  // Field 1000.
  EXPECT_TRUE(CheckJobSpec(spec).ok());
  EXPECT_NE(spec.SerializeAsString(), known);
  Abridge(spec);
  EXPECT_EQ(spec.SerializeAsString(), known);
}

TEST(JobSpecTest, AbridgesWhatIsLong) {
  proto::JobSpec spec = Spec();
  Abridge(spec);
  EXPECT_EQ(spec.SerializeAsString(), Spec().SerializeAsString());
  spec.add_environment("A=1");
  for (int i = 0; i < 1000; ++i) {
    spec.add_arguments(std::string(100, 'a'));
    spec.add_files()->set_name("data");
    spec.add_after()->set_job(static_cast<std::uint64_t>(i) + 1);
  }
  Abridge(spec);
  EXPECT_EQ(spec.environment_size(), 0);
  EXPECT_EQ(spec.arguments(0), "a.out");
  EXPECT_EQ(spec.arguments(spec.arguments_size() - 1), "...");
  EXPECT_LT(spec.ByteSizeLong(), 8192u);
}

TEST(JobSpecTest, RefusesAJobAfterTheSameOneTwice) {
  EXPECT_EQ(Complaint([](auto& s) { s.add_after()->set_job(3); }), "");
  EXPECT_EQ(Complaint([](auto& s) {
              s.add_after()->set_job(3);
              s.add_after()->set_job(3);
              s.mutable_after(1)->set_any(true);
            }),
            "--after names job 3 twice");
  EXPECT_NE(Complaint([](auto& s) {
              for (int i = 0; i <= kAfterMax; ++i)
                s.add_after()->set_job(static_cast<std::uint64_t>(i));
            }),
            "");
}

TEST(JobSpecTest, LimitsArrays) {
  const auto code = [](std::uint64_t first, std::uint64_t last, std::uint64_t step,
                       const proto::JobSpec& spec) {
    proto::ArraySpec array;
    array.set_first(first);
    array.set_last(last);
    array.set_step(step);
    return CheckArray(array, spec).code();
  };
  proto::JobSpec spec;
  EXPECT_EQ(code(0, 9999, 1, spec), absl::StatusCode::kOk);
  EXPECT_EQ(code(0, ~0ull, ~0ull, spec), absl::StatusCode::kOk);
  EXPECT_EQ(code(2, 1, 1, spec), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(1, 2, 0, spec), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(0, 10'000, 1, spec), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(0, ~0ull, 1, spec), absl::StatusCode::kResourceExhausted);
  for (int i = 0; i < 11; ++i) spec.add_after()->set_job(static_cast<std::uint64_t>(i));
  EXPECT_EQ(code(1, 10'000, 1, spec), absl::StatusCode::kResourceExhausted);
  spec.clear_after();
  spec.add_arguments(std::string(1 << 20, 'x'));
  EXPECT_EQ(code(1, 1000, 1, spec), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(1, 10, 1, spec), absl::StatusCode::kOk);
  spec.set_attached(true);
  EXPECT_EQ(code(1, 10, 1, spec), absl::StatusCode::kInvalidArgument);
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
