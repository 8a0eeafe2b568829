#include "coordinator/core/jobs/job_spec.h"

#include <absl/strings/str_cat.h>
#include "files/file_name.h"
#include "files/sha256.h"

namespace bspnow::coordinator {
namespace {

absl::Status CheckFile(const proto::FileSpec& file) {
  if (absl::Status named = files::CheckFileName(file.name()); !named.ok()) return named;
  return files::CheckSha256(file.sha256());
}

absl::Status CheckShape(const proto::JobSpec& spec) {
  if (spec.nprocs() < 1 || spec.nprocs() > kProcessesMax)
    return absl::InvalidArgumentError(absl::StrCat("a job has 1 to ", kProcessesMax,
                                                   " processes, not ", spec.nprocs(), "; see -n"));
  if (spec.nodes() > spec.nprocs())
    return absl::InvalidArgumentError(absl::StrCat("--nodes ", spec.nodes(), " with ",
                                                   spec.nprocs(),
                                                   " processes: each node needs at least one"));
  const std::uint64_t places = std::uint64_t{spec.nodes()} * spec.per_node();
  if (places != 0 && places < spec.nprocs())
    return absl::InvalidArgumentError(absl::StrCat("--nodes ", spec.nodes(), " and --per-node ",
                                                   spec.per_node(), " leave room for ", places,
                                                   " of ", spec.nprocs(), " processes"));
  return absl::OkStatus();
}

absl::Status CheckTexts(const proto::JobSpec& spec) {
  for (const std::string& variable : spec.environment()) {
    const std::size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos || variable.find('\0') != std::string::npos)
      return absl::InvalidArgumentError(
          absl::StrCat("environment: \"", variable, "\" is not NAME=VALUE"));
  }
  for (const std::string& argument : spec.arguments())
    if (argument.find('\0') != std::string::npos)
      return absl::InvalidArgumentError("an argument of the program has a NUL in it");
  for (const std::string& constraint : spec.constraints())
    if (constraint.empty() || constraint.front() == '=')
      return absl::InvalidArgumentError(
          absl::StrCat("--constraint \"", constraint, "\" is neither NAME nor NAME=VALUE"));
  return absl::OkStatus();
}

absl::Status CheckCheckpoints(const proto::JobSpec& spec) {
  const proto::CheckpointPolicy& policy = spec.checkpoints();
  const int set = (policy.automatic() ? 1 : 0) + (policy.every_supersteps() != 0 ? 1 : 0) +
                  (policy.every_ms() != 0 ? 1 : 0) + (policy.off() ? 1 : 0);
  if (set > 1)
    return absl::InvalidArgumentError(
        "--checkpoint takes one of auto, every=N, every=DURATION and off");
  if (policy.every_ms() != 0 && policy.every_ms() < kCheckpointMsLeast)
    return absl::InvalidArgumentError(absl::StrCat("--checkpoint=every=", policy.every_ms(),
                                                   "ms: at least every ", kCheckpointMsLeast,
                                                   " ms"));
  if (policy.every_ms() > kCheckpointMsMax)
    return absl::InvalidArgumentError("--checkpoint=every=...: at most a year");
  if (spec.restarts_max() < -1 || spec.restarts_max() > kRestartsMax)
    return absl::InvalidArgumentError(
        absl::StrCat("--max-restarts ", spec.restarts_max(), ": a job has 0 to ", kRestartsMax));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckJobSpec(const proto::JobSpec& spec) {
  if (spec.ByteSizeLong() > kSpecBytesMax)
    return absl::ResourceExhaustedError(
        absl::StrCat("arguments, environment and file names of a "
                     "job have at most ",
                     kSpecBytesMax, " bytes together"));
  if (absl::Status shape = CheckShape(spec); !shape.ok()) return shape;
  if (spec.arguments().empty()) return absl::InvalidArgumentError("argv[0] is missing");
  if (spec.files_size() > kFilesMax)
    return absl::ResourceExhaustedError(
        absl::StrCat("at most ", kFilesMax, " files travel with a job; pack them"));
  if (absl::Status program = CheckFile(spec.program()); !program.ok()) return program;
  std::set<std::string> names = {spec.program().name()};
  for (const proto::FileSpec& file : spec.files()) {
    if (absl::Status checked = CheckFile(file); !checked.ok()) return checked;
    if (!names.insert(file.name()).second)
      return absl::InvalidArgumentError(
          absl::StrCat("two files of the job have the name \"", file.name(), "\""));
  }
  if (!spec.input().empty() && (spec.attached() || !names.contains(spec.input())))
    return absl::InvalidArgumentError(absl::StrCat(
        "--input: \"", spec.input(), "\" is not among the files of a job without a client"));
  if (absl::Status checked = CheckCheckpoints(spec); !checked.ok()) return checked;
  if (spec.reconnect_ms() > kReconnectMsMax)
    return absl::InvalidArgumentError("--reconnect-timeout: at most a week");
  return CheckTexts(spec);
}

std::set<std::string> ContentsOf(const proto::JobSpec& spec) {
  std::set<std::string> contents = {spec.program().sha256()};
  for (const proto::FileSpec& file : spec.files()) contents.insert(file.sha256());
  return contents;
}

}  // namespace bspnow::coordinator
