#include "client/options/submission.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/environment.h"
#include "client/options/checkpoint_option.h"
#include "client/options/file_option.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kKeyBytes = 16;
constexpr char kInputName[] = ".input";  // In the job's directory.
constexpr char kCoordinatorVariable[] = "BSP_COORDINATOR=";

std::string RandomKey() {
  std::string key(kKeyBytes, '\0');
  BSP_CHECK(getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()));
  return absl::BytesToHexString(key);
}

std::string LastComponent(const std::string& path) { return path.substr(path.rfind('/') + 1); }

absl::Status AddFile(Submission& submission, proto::FileSpec& spec, const std::string& name,
                     const std::string& path) {
  absl::StatusOr<Content> content = ReadContent(path);
  if (!content.ok()) return content.status();
  spec.set_name(name);
  spec.set_sha256(content->sha256);
  spec.set_bytes(content->bytes);
  spec.set_mode(content->mode);
  submission.contents.push_back(std::move(*content));
  return absl::OkStatus();
}

void TakeScheduling(const JobOptions& options, proto::JobSpec& spec) {
  spec.set_priority(options.priority);
  spec.set_time_limit_s(options.time_limit_s);
  spec.set_memory_bytes(options.memory_bytes);
  spec.set_nodes(options.nodes);
  spec.set_per_node(options.per_node);
  for (const std::string& label : options.constraints) spec.add_constraints(label);
  spec.set_oversubscribe(options.oversubscribe);
  for (const AfterOption& option : options.after) {
    proto::AfterJob& after = *spec.add_after();
    after.set_job(option.job);
    after.set_any(option.when == AfterOption::When::kEnded);
  }
}

void TakeRecovery(const JobOptions& options, proto::JobSpec& spec) {
  *spec.mutable_checkpoints() = PolicyOf(options.checkpoint);
  spec.set_restarts_max(options.restarts_max);
  spec.set_cpu(options.cpu == "common" ? proto::CPU_COMMON : proto::CPU_NATIVE);
}

// Those of --env, and the other variables of this program; the job must not find its way back here
// by itself.
void TakeEnvironment(const JobOptions& options, proto::JobSpec& spec) {
  spec.set_replace_environment(true);
  spec.clear_environment();
  const std::vector<std::string> variables = EnvironmentWith(options.environment);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const bool given = i < options.environment.size();
    if (given || !absl::StartsWith(variables[i], kCoordinatorVariable))
      spec.add_environment(variables[i]);
  }
}

absl::Status TakeDirectory(const JobOptions& options, proto::JobSpec& spec) {
  std::error_code error;
  const std::filesystem::path directory = options.directory.empty()
                                              ? std::filesystem::current_path(error)
                                              : std::filesystem::absolute(options.directory, error);
  if (error) {
    return absl::NotFoundError(absl::StrCat("the current directory: ", error.message()));
  }
  spec.set_directory(directory.lexically_normal());
  spec.set_directory_optional(options.directory.empty());
  return absl::OkStatus();
}

}  // namespace

proto::CheckpointPolicy PolicyOf(const CheckpointOption& option) {
  proto::CheckpointPolicy policy;
  switch (option.kind) {
    case CheckpointOption::Kind::kAuto:
      policy.set_automatic(true);
      break;
    case CheckpointOption::Kind::kSupersteps:
      policy.set_every_supersteps(option.every);
      break;
    case CheckpointOption::Kind::kTime:
      policy.set_every_ms(option.every);
      break;
    case CheckpointOption::Kind::kOff:
      policy.set_off(true);
      break;
  }
  return policy;
}

absl::StatusOr<Submission> MakeSubmission(const JobOptions& options, const std::string& program) {
  Submission submission;
  submission.request.set_submission_key(RandomKey());
  if (options.array) *submission.request.mutable_array() = *options.array;
  proto::JobSpec& spec = *submission.request.mutable_spec();
  const std::string program_name = LastComponent(program);
  spec.set_name(options.name.empty() ? program_name : options.name);
  spec.set_nprocs(options.nprocs);
  spec.set_directory(options.directory);
  for (const std::string& word : options.program) spec.add_arguments(word);
  for (const std::string& variable : options.environment) spec.add_environment(variable);
  TakeScheduling(options, spec);
  TakeRecovery(options, spec);
  spec.set_check_full(options.checks.full);
  spec.set_check_textual(options.checks.textual);
  spec.set_core(options.core);
  spec.set_output(options.output);
  absl::Status added = AddFile(submission, *spec.mutable_program(), program_name, program);
  for (const std::string& text : options.files) {
    const absl::StatusOr<FileOption> file = ParseFileOption(text);
    if (!file.ok()) return file.status();
    if (added.ok()) added = AddFile(submission, *spec.add_files(), file->name, file->path);
  }
  if (added.ok() && !options.input.empty()) {
    spec.set_input(kInputName);
    added = AddFile(submission, *spec.add_files(), kInputName, options.input);
  }
  if (!added.ok()) return added;
  return submission;
}

absl::StatusOr<Submission> MakeAttachedSubmission(const JobOptions& options,
                                                  const std::string& program) {
  absl::StatusOr<Submission> submission = MakeSubmission(options, program);
  if (!submission.ok()) return submission.status();
  proto::JobSpec& spec = *submission->request.mutable_spec();
  spec.set_attached(true);
  spec.set_reconnect_ms(options.reconnect_s * 1000);
  spec.set_interactive(isatty(STDIN_FILENO) || isatty(STDOUT_FILENO));
  TakeEnvironment(options, spec);
  if (absl::Status taken = TakeDirectory(options, spec); !taken.ok()) return taken;
  return submission;
}

absl::StatusOr<proto::SubmitJobReply> Submit(JobsStub& jobs, const Submission& submission,
                                             const JobsStub::Progress& progress) {
  if (absl::Status s = jobs.Upload(submission.contents, progress); !s.ok()) return s;
  return jobs.Submit(submission.request);
}

}  // namespace bspnow::client
