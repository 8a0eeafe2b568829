#include "coordinator/core/jobs/job_spec.h"

#include <utility>

#include <absl/strings/str_cat.h>
#include "base/ids.h"
#include "coordinator/core/jobs/job_record.h"
#include "files/file_name.h"
#include "files/sha256.h"

namespace bspnow::coordinator {
namespace {

absl::Status CheckFile(const proto::FileSpec& file) {
  if (absl::Status named = files::CheckFileName(file.name()); !named.ok()) return named;
  if (file.name().size() > files::kSentNameBytesMax)
    return absl::InvalidArgumentError(absl::StrCat("a file's name has ", file.name().size(),
                                                   " bytes; at most ", files::kSentNameBytesMax));
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

absl::Status TooMany(const std::string& what, int max) {
  return absl::ResourceExhaustedError(absl::StrCat("a job has at most ", max, " ", what));
}

absl::Status TooManyConstraints() {
  return TooMany("labels to ask for (--constraint)", kConstraintsMax);
}

// An empty text has hardly a byte in a message, and dozens in memory.
absl::Status CheckCounts(const proto::JobSpec& spec) {
  if (spec.arguments_size() > kArgumentsMax)
    return TooMany("arguments; give them in a file (--file)", kArgumentsMax);
  if (spec.environment_size() > kVariablesMax)
    return TooMany("variables in its environment", kVariablesMax);
  if (spec.constraints_size() > kConstraintsMax) return TooManyConstraints();
  if (spec.files_size() > kFilesMax)
    return TooMany("files that travel with it; pack them", kFilesMax);
  return absl::OkStatus();
}

absl::Status CheckLength(const char* what, const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has ", text.size(), " bytes; at most ", bytes_max, " are allowed"));
}

absl::Status CheckLengths(const proto::JobSpec& spec) {
  absl::Status checked = CheckLength("the name of the job (--name)", spec.name(), kNameBytesMax);
  if (checked.ok()) checked = CheckLength("--dir", spec.directory(), kPathBytesMax);
  if (checked.ok()) checked = CheckLength("--output", spec.output(), kPathBytesMax);
  for (const std::string& constraint : spec.constraints())
    if (checked.ok()) checked = CheckLength("--constraint", constraint, kNameBytesMax);
  return checked;
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

/// Why this has no effect any more; empty: it has.
std::string WhyTooLate(const proto::AlterJobRequest& request, const proto::Job& job) {
  const bool ends = job.state() == proto::ENDING || HasEnded(job.state());
  if (ends) return "it is over";
  if (request.has_priority() && job.state() == proto::RUNNING)
    return "the priority of a job that runs has no effect";
  if (job.started_unix_ms() == 0) return "";
  const char* const late = request.has_memory_bytes()  ? "--memory"
                           : request.has_nodes()       ? "--nodes"
                           : request.has_per_node()    ? "--per-node"
                           : request.has_constraints() ? "--constraint"
                           : request.has_checkpoints() ? "--checkpoint"
                                                       : nullptr;
  return late == nullptr ? ""
                         : absl::StrCat("it has started, and ", late,
                                        " is settled then; cancel it and submit it again");
}

/// Adds the names of the files to `names`, which has the program's.
absl::Status CheckFiles(const proto::JobSpec& spec, std::set<std::string>& names) {
  for (const proto::FileSpec& file : spec.files()) {
    if (absl::Status checked = CheckFile(file); !checked.ok()) return checked;
    if (!names.insert(file.name()).second)
      return absl::InvalidArgumentError(
          absl::StrCat("two files of the job have the name \"", file.name(), "\""));
  }
  for (const std::string& name : names) {
    const auto below = names.lower_bound(name + "/");
    if (below != names.end() && below->starts_with(name + "/"))
      return absl::InvalidArgumentError(absl::StrCat(
          "the job's file \"", *below, "\" is to lie in \"", name, "\", which is a file, too"));
  }
  return absl::OkStatus();
}

absl::Status CheckAfter(const proto::JobSpec& spec) {
  if (spec.after_size() > kAfterMax)
    return absl::ResourceExhaustedError(
        absl::StrCat("--after: a job starts after at most ", kAfterMax, " others"));
  std::set<std::uint64_t> jobs;
  for (const proto::AfterJob& after : spec.after())
    if (!jobs.insert(after.job()).second)
      return absl::InvalidArgumentError(absl::StrCat("--after names job ", after.job(), " twice"));
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
  if (absl::Status counts = CheckCounts(spec); !counts.ok()) return counts;
  if (absl::Status lengths = CheckLengths(spec); !lengths.ok()) return lengths;
  if (absl::Status program = CheckFile(spec.program()); !program.ok()) return program;
  std::set<std::string> names = {spec.program().name()};
  if (absl::Status files = CheckFiles(spec, names); !files.ok()) return files;
  if (!spec.input().empty() && (spec.attached() || !names.contains(spec.input())))
    return absl::InvalidArgumentError(absl::StrCat(
        "--input: \"", spec.input(), "\" is not among the files of a job without a client"));
  if (absl::Status checked = CheckCheckpoints(spec); !checked.ok()) return checked;
  if (spec.reconnect_ms() > kReconnectMsMax)
    return absl::InvalidArgumentError("--reconnect-timeout: at most a week");
  if (absl::Status checked = CheckAfter(spec); !checked.ok()) return checked;
  return CheckTexts(spec);
}

absl::Status AlterJobSpec(const proto::AlterJobRequest& request, proto::Job& job) {
  if (const std::string why = WhyTooLate(request, job); !why.empty())
    return absl::FailedPreconditionError(absl::StrCat(StateSentence(job), ": ", why));
  if (request.constraints().labels_size() > kConstraintsMax) return TooManyConstraints();
  proto::JobSpec spec = job.spec();
  if (request.has_name()) spec.set_name(request.name());
  if (request.has_time_limit_s()) spec.set_time_limit_s(request.time_limit_s());
  if (request.has_restarts_max()) spec.set_restarts_max(request.restarts_max());
  if (request.has_priority()) spec.set_priority(request.priority());
  if (request.has_memory_bytes()) spec.set_memory_bytes(request.memory_bytes());
  if (request.has_nodes()) spec.set_nodes(request.nodes());
  if (request.has_per_node()) spec.set_per_node(request.per_node());
  if (request.has_constraints()) *spec.mutable_constraints() = request.constraints().labels();
  if (request.has_checkpoints()) *spec.mutable_checkpoints() = request.checkpoints();
  if (absl::Status checked = CheckJobSpec(spec); !checked.ok()) return checked;
  *job.mutable_spec() = std::move(spec);
  return absl::OkStatus();
}

absl::Status CheckArray(const proto::ArraySpec& array, const proto::JobSpec& spec) {
  if (array.step() == 0 || array.last() < array.first())
    return absl::InvalidArgumentError(
        absl::StrCat("--array ", array.first(), "-", array.last(), ":", array.step(),
                     ": has no elements; write FIRST-LAST or FIRST-LAST:STEP"));
  const std::uint64_t steps = (array.last() - array.first()) / array.step();
  if (steps >= kElementsMax)
    return absl::ResourceExhaustedError(
        absl::StrCat("--array: at most ", kElementsMax, " elements; submit several arrays"));
  if (spec.attached())
    return absl::InvalidArgumentError("--array: nobody can stay with an array; see bsp submit");
  if ((steps + 1) * spec.SpaceUsedLong() > kArrayBytesMax)
    return absl::ResourceExhaustedError(
        absl::StrCat("--array: arguments, environment and file names of all elements take at most ",
                     kArrayBytesMax, " bytes of memory; give large ones in a file (--file)"));
  if ((steps + 1) * static_cast<std::uint64_t>(spec.after_size()) > kArrayAfterMax)
    return absl::ResourceExhaustedError(absl::StrCat(
        "--array with --after: elements times jobs before them are at most ", kArrayAfterMax,
        "; put one job between them that starts after those, and the array after it"));
  return absl::OkStatus();
}

void Abridge(proto::JobSpec& spec) {
  spec.clear_environment();
  int arguments = 0;
  for (std::size_t bytes = 0; arguments < spec.arguments_size(); ++arguments)
    if ((bytes += spec.arguments(arguments).size()) > kAbridgedBytesMax) break;
  if (arguments < spec.arguments_size()) {
    spec.mutable_arguments()->DeleteSubrange(arguments, spec.arguments_size() - arguments);
    spec.add_arguments("...");
  }
  if (spec.files_size() > kAbridgedCountMax)
    spec.mutable_files()->DeleteSubrange(kAbridgedCountMax, spec.files_size() - kAbridgedCountMax);
  if (spec.after_size() > kAbridgedCountMax)
    spec.mutable_after()->DeleteSubrange(kAbridgedCountMax, spec.after_size() - kAbridgedCountMax);
  spec.DiscardUnknownFields();
}

std::set<std::string> ContentsOf(const proto::JobSpec& spec) {
  std::set<std::string> contents = {spec.program().sha256()};
  for (const proto::FileSpec& file : spec.files()) contents.insert(file.sha256());
  return contents;
}

}  // namespace bspnow::coordinator
