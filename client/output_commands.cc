// logs, fetch.
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/write_all.h"
#include "client/commands.h"
#include "client/options/job_options.h"
#include "client/options/output_file.h"
#include "client/view/harmless.h"
#include "client/view/job_json.h"
#include "client/view/job_view.h"
#include "client/view/line_prefixer.h"
#include "client/view/open_line.h"
#include "files/file_name.h"
#include "files/file_store.h"
#include "files/unfinished_files.h"
#include "files/whole_number.h"

namespace bspnow::client {
namespace {

// ---- logs ---------------------------------------------------------------------------------------

struct LogOptions {
  std::uint64_t job = 0;
  bool follow = false;
  CLI::Option* pid_option = nullptr;
  std::uint32_t pid = 0;
  bool prefix_output = false;
  bool json = false;
  std::string output{};  ///< A pattern of OutputPath; empty: to standard output.
  std::shared_ptr<files::UnfinishedFiles> unfinished = std::make_shared<files::UnfinishedFiles>();
};

/// Prints the output of processes on the stream that they wrote to.
class LogPrinter {
 public:
  explicit LogPrinter(const LogOptions& options) : options_(options) {}

  absl::Status Print(const proto::LogLine& line) {
    if (options_.json) return WriteAll(STDOUT_FILENO, JsonText(LogJson(line)), "standard output");
    const bool is_error = line.stream() == proto::STDERR;
    const int source = line.of_launcher() ? kLauncher : static_cast<int>(line.pid());
    std::string text = PrefixerOf(source, line.stream()).Add(line.text());
    if (const auto broken_off = (is_error ? error_ : output_).Next(source, text)) {
      PrefixerOf(*broken_off, line.stream()).BeginAnew();
      text.insert(0, "\n");
    }
    return is_error ? WriteAll(STDERR_FILENO, text, "standard error")
                    : WriteAll(STDOUT_FILENO, text, "standard output");
  }

 private:
  static constexpr int kLauncher = -1;  ///< Among the sources, which are pids.

  LinePrefixer& PrefixerOf(int source, proto::OutputStream stream) {
    const std::string prefix = source == kLauncher      ? "bsp: "
                               : options_.prefix_output ? absl::StrCat("[", source, "] ")
                                                        : "";
    return prefixers_.try_emplace({source, stream}, prefix).first->second;
  }

  const LogOptions& options_;
  std::map<std::pair<int, proto::OutputStream>, LinePrefixer> prefixers_;
  OpenLine output_;
  OpenLine error_;
};

/// The file of --output, which standard output is from now on.
absl::StatusOr<OutputFile> TakeOutputFile(const LogOptions& options) {
  absl::StatusOr<OutputFile> file =
      OutputFile::Create(OutputPath(options.output, options.job), options.unfinished);
  if (file.ok() && dup2(file->fd(), STDOUT_FILENO) < 0)
    return absl::ErrnoToStatus(errno, "replacing standard output");
  return file;
}

// Others may want to watch the output come: whoever follows a job has the file in its place from
// the first line on, and none beside it for as long as the job prints nothing.
absl::Status BeginFollowing(const LogOptions& options) {
  absl::StatusOr<OutputFile> file = TakeOutputFile(options);
  return file.ok() ? file->Commit() : file.status();
}

absl::StatusOr<int> PrintLog(JobsStub& jobs, const LogOptions& options) {
  proto::ReadLogRequest request;
  request.set_job(options.job);
  request.set_follow(options.follow);
  request.set_one_pid(options.pid_option->count() > 0);
  request.set_pid(options.pid);
  bool begins = options.follow && !options.output.empty();
  if (begins)
    if (absl::Status s = CheckOutputPlace(options.output); !s.ok()) return s;
  std::optional<OutputFile> file;
  if (!options.output.empty() && !options.follow) {
    absl::StatusOr<OutputFile> made = TakeOutputFile(options);
    if (!made.ok()) return made.status();
    file.emplace(*std::move(made));
  }
  LogPrinter printer(options);
  absl::Status done = jobs.ReadLog(request, [&](const proto::LogLine& next) {
    if (std::exchange(begins, false))
      if (absl::Status begun = BeginFollowing(options); !begun.ok()) return begun;
    return printer.Print(next);
  });
  if (done.ok() && begins) done = BeginFollowing(options);
  if (done.ok() && file) done = file->Commit();
  if (!done.ok()) return done;
  return 0;
}

}  // namespace

absl::Status WriteOutputFile(JobsStub& jobs, std::uint64_t job, const std::string& path,
                             std::shared_ptr<files::UnfinishedFiles> unfinished) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(path, std::move(unfinished));
  if (!file.ok()) return file.status();
  proto::ReadLogRequest request;
  request.set_job(job);
  OpenLine open;
  const absl::Status read = jobs.ReadLog(request, [&](const proto::LogLine& line) {
    if (line.stream() == proto::STDERR || line.of_launcher()) return absl::OkStatus();
    const bool breaks = open.Next(static_cast<int>(line.pid()), line.text()).has_value();
    return WriteAll(file->fd(), breaks ? "\n" + line.text() : line.text(), "--output " + path);
  });
  return read.ok() ? file->Commit() : read;
}

namespace {

// ---- fetch --------------------------------------------------------------------------------------

struct FetchOptions {
  std::uint64_t job = 0;
  std::vector<std::string> names;
  std::string directory = ".";
  bool json = false;
  std::shared_ptr<files::UnfinishedFiles> unfinished = std::make_shared<files::UnfinishedFiles>();
};

/// Where the job's standard output goes with its files; empty: nowhere. Its owner has said it, and
/// somebody else fetches, maybe as root: so it leads nowhere but down.
absl::StatusOr<std::string> OutputOf(const proto::JobSpec& spec, const FetchOptions& options) {
  if (spec.attached() || spec.output().empty()) return "";
  const std::string name =
      std::filesystem::path(OutputPath(spec.output(), options.job)).lexically_normal();
  if (!files::CheckFileName(name).ok())
    return absl::FailedPreconditionError(
        absl::StrCat("the standard output of job ", options.job, " was to go to \"", name,
                     "\", which is not below ", options.directory, "; write it by bsp logs ",
                     options.job, " --output FILE"));
  return (std::filesystem::path(options.directory) / name).lexically_normal();
}

/// Empty if names were given: then nothing else is wanted.
absl::StatusOr<proto::Job> FetchedJob(JobsStub& jobs, const FetchOptions& options) {
  if (!options.names.empty()) return proto::Job();
  proto::ShowJobRequest request;
  request.set_job(options.job);
  return jobs.Show(request);
}

// A script must not go on with a part. `unread`: of what the coordinator has.
absl::Status LostFiles(const FetchOptions& options, const proto::Job& job,
                       const std::string& unread) {
  std::string lacks;
  if (!unread.empty())
    lacks = absl::StrCat("not all of its files can be read at the coordinator: ", unread);
  if (const std::string lost = FilesLostOf(job); !lost.empty())
    absl::StrAppend(&lacks, lacks.empty() ? "" : "; ", "files that it left are lost: ", lost);
  if (lacks.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("job ", options.job, ": ", lacks));
}

/// A script that reads them has the names as they are.
std::string NameShown(const std::string& name) {
  return isatty(STDOUT_FILENO) == 1 ? Harmless(name) : name;
}

absl::StatusOr<int> FetchJobFiles(JobsStub& jobs, const FetchOptions& options) {
  proto::FetchFilesRequest request;
  request.set_job(options.job);
  request.set_holes(true);
  request.set_unread(true);
  for (const std::string& name : options.names) request.add_names(name);
  files::FileReceiver receiver({.directory = options.directory,
                                .bytes_max = std::numeric_limits<std::uint64_t>::max(),
                                .durability = Durability::kCached,
                                .unfinished = options.unfinished});
  const absl::StatusOr<std::string> unread = jobs.Fetch(request, receiver);
  if (!unread.ok()) return unread.status();
  std::vector<std::string> paths;
  for (const std::string& name : receiver.names()) {
    paths.push_back((std::filesystem::path(options.directory) / name).lexically_normal());
  }
  const absl::StatusOr<proto::Job> job = FetchedJob(jobs, options);
  if (!job.ok()) return job.status();
  const absl::StatusOr<std::string> output = OutputOf(job->spec(), options);
  absl::Status written = output.status();
  if (output.ok() && std::find(paths.begin(), paths.end(), *output) != paths.end())
    written = absl::AlreadyExistsError(
        absl::StrCat("the job has left a file ", *output,
                     ", which is fetched; its standard output, for which "
                     "--output has the same name, is to be had by bsp logs ",
                     options.job, " --output FILE"));
  if (written.ok() && !output->empty()) {
    written = WriteOutputFile(jobs, options.job, *output, options.unfinished);
    if (written.ok()) paths.push_back(*output);
  }
  if (written.ok()) written = LostFiles(options, *job, *unread);
  if (written.ok() && paths.empty()) std::cerr << "bsp: job " << options.job << " left no files\n";
  if (options.json) {
    std::cout << JsonText({{"job", options.job}, {"files", paths}});
  } else {
    for (const std::string& path : paths) std::cout << NameShown(path) << "\n";
  }
  if (!written.ok()) return written;
  return 0;
}

/// What it has not finished goes if a signal ends it. Those are taken over before there is any
/// thread, of gRPC either.
void SetRemovingAction(CommandLine& line, CLI::App* command,
                       std::shared_ptr<files::UnfinishedFiles> unfinished, ConnectedAction action) {
  SetAction(line, command,
            [&line, unfinished, action = std::move(action)]() -> absl::StatusOr<int> {
              files::RemoveWhenEnded(unfinished, "");
              absl::StatusOr<JobsStub> jobs = ConnectTo(line);
              return jobs.ok() ? action(*jobs) : jobs.status();
            });
}

}  // namespace

void AddOutputCommands(CommandLine& line) {
  CLI::App* logs = AddCommand(line, "logs", "Print what a job has printed");
  const auto log_options = std::make_shared<LogOptions>();
  AddJobId(*logs, log_options->job);
  logs->add_flag("-f,--follow", log_options->follow, "Go on until the job ends");
  log_options->pid_option = logs->add_option("--pid", log_options->pid, "Only of this process")
                                ->transform(files::AsWholeNumber(files::Sign::kNone))
                                ->type_name("PID");
  logs->add_flag("--prefix-output", log_options->prefix_output, "Begin each line with its [pid]");
  AddOutputOption(*logs, log_options->output,
                  "Write standard output there instead; %j is the job's id");
  logs->add_flag("--json", log_options->json, "Print JSON, an object for each piece");
  SetRemovingAction(line, logs, log_options->unfinished,
                    [log_options](JobsStub& jobs) { return PrintLog(jobs, *log_options); });

  CLI::App* fetch = AddCommand(line, "fetch", "Fetch files that pid 0 left in the job's directory");
  const auto fetch_options = std::make_shared<FetchOptions>();
  AddJobId(*fetch, fetch_options->job);
  fetch->add_option("NAME", fetch_options->names, "Only these files [all]");
  fetch->add_option("--dir", fetch_options->directory, "Put them there [.]")->type_name("DIR");
  fetch->add_flag("--json", fetch_options->json, kJsonText);
  SetRemovingAction(line, fetch, fetch_options->unfinished, [fetch_options](JobsStub& jobs) {
    return FetchJobFiles(jobs, *fetch_options);
  });
}

}  // namespace bspnow::client
