// submit, show, wait, checkpoint, suspend, resume.
#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/exit_status.h"
#include "client/barrier_notice.h"
#include "client/cluster/reconnection.h"
#include "client/commands.h"
#include "client/options/job_options.h"
#include "client/options/output_file.h"
#include "client/options/submission.h"
#include "client/run/job_start.h"
#include "client/run/program_file.h"
#include "client/run/signal_watch.h"
#include "client/view/checkpoint_view.h"
#include "client/view/job_json.h"
#include "client/view/job_view.h"
#include "files/unfinished_files.h"
#include "net/event_loop.h"

namespace bspnow::client {
namespace {

struct JobQuery {
  std::vector<std::uint64_t> jobs;
  bool json = false;
  std::uint64_t timeout_s = 0;                           ///< Of checkpoint and suspend; 0: none.
  std::uint64_t reconnect_s = kReconnectUsualMs / 1000;  ///< Of wait.
};

constexpr std::uint64_t kMsPerSecond = 1'000;

// ---- wait ---------------------------------------------------------------------------------------

// A job that did not succeed gives no status of success, whatever its processes gave.
int StatusOf(const proto::Job& job) {
  if (job.state() == proto::SUCCEEDED) return 0;
  return job.exit_status() == 0 ? kFailureStatus : job.exit_status();
}

absl::StatusOr<int> WaitJobs(JobsStub& jobs, const JobQuery& query) {
  int status = 0;
  for (const std::uint64_t id : query.jobs) {
    proto::WaitJobRequest request;
    request.set_job(id);
    const absl::StatusOr<proto::Job> job = jobs.Wait(request);
    if (absl::IsNotFound(job.status())) {  // The others are waited for all the same.
      PrintFailure(job.status());
      if (status == 0) status = kUnknownStatus;
      continue;
    }
    if (!job.ok()) return job.status();
    if (query.json) std::cout << JsonText(JobJson(*job));
    if (!query.json && job->state() != proto::SUCCEEDED && !job->reason().empty()) {
      const std::string state = StateName(job->state());
      std::cerr << "bsp: job " << id << " "
                << (job->reason().starts_with(state) ? "was " : state + ": ") << job->reason()
                << "\n";
    }
    if (status == 0) status = StatusOf(*job);
  }
  return status;
}

/// "7", or "7-12" of an array.
std::string IdsOf(const proto::SubmitJobReply& submitted) {
  if (submitted.elements() <= 1) return absl::StrCat(submitted.job());
  return absl::StrCat(submitted.job(), "-", submitted.job() + submitted.elements() - 1);
}

/// To who interrupts a wait: as with Slurm's sbatch the job does not end by it.
std::string GoesOn(const proto::SubmitJobReply& submitted, const std::string& output) {
  const std::string ids = IdsOf(submitted);
  const std::string one = submitted.elements() == 0 ? ids : "JOB";
  const std::string logs =
      output.empty() ? "" : absl::StrCat(", `bsp logs ", one, " --output FILE` writes its output");
  return absl::StrCat("bsp: stopped waiting, which ends no job: `bsp wait ", ids, "` waits for ",
                      ids, logs, ", `bsp cancel ", ids, "` ends it\n");
}

/// Also writes what the job has printed to the file that --output names, if it does; if it cannot,
/// the job has its status all the same, and others may be waited for.
absl::StatusOr<int> WaitForOutput(JobsStub& jobs, std::uint64_t job, const std::string& output,
                                  const std::shared_ptr<files::UnfinishedFiles>& unfinished) {
  const absl::StatusOr<int> status = WaitJobs(jobs, {.jobs = {job}});
  if (!status.ok() || output.empty()) return status;
  const absl::Status written = WriteOutputFile(jobs, job, OutputPath(output, job), unfinished);
  if (written.ok()) return status;
  PrintFailure(written);
  return std::max(*status, kFailureStatus);
}

/// The worst status of what was submitted.
absl::StatusOr<int> WaitForAll(JobsStub& jobs, const proto::SubmitJobReply& submitted,
                               const std::string& output) {
  const auto unfinished = std::make_shared<files::UnfinishedFiles>();
  files::RemoveWhenEnded(unfinished, GoesOn(submitted, output));
  int worst = 0;
  for (std::uint64_t i = 0; i < std::max(submitted.elements(), 1u); ++i) {
    const absl::StatusOr<int> status = WaitForOutput(jobs, submitted.job() + i, output, unfinished);
    if (!status.ok()) return status;
    worst = std::max(worst, *status);
  }
  return worst;
}

// ---- submit -------------------------------------------------------------------------------------

// `bsp submit PROGRAM < FILE`. In a script that is itself read from a file, standard input is not
// meant for the job, and the script has read some of it; a pipe may be a script's, too.
bool HasInputForJob() {
  struct stat input;
  return fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode) && input.st_size > 0 &&
         lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
}

// The id is for scripts, alone on standard output; if it cannot be printed there, it is still said.
// Of an array it names all elements: the first id alone is one of them to --after, wait and cancel.
void PrintSubmitted(const proto::SubmitJobReply& submitted, const JobOptions& options) {
  const std::uint64_t last = submitted.job() + std::max(submitted.elements(), 1u) - 1;
  if (options.json) {
    nlohmann::json json = {{"job", submitted.job()}};
    if (submitted.elements() != 0) {
      json["last_job"] = last;
      json["elements"] = submitted.elements();
    }
    std::cout << JsonText(json) << std::flush;
  } else {
    std::cout << IdsOf(submitted) << std::endl;
  }
  const bool printed = static_cast<bool>(std::cout);
  if (submitted.elements() != 0 && !(printed && options.json)) {
    Say(absl::StrCat("submitted array ", submitted.job(), ": jobs ", IdsOf(submitted)));
  } else if (!printed) {
    Say(absl::StrCat("submitted job ", submitted.job()));
  }
}

absl::StatusOr<int> SubmitJob(CommandLine& line, JobOptions options) {
  const absl::StatusOr<std::string> program =
      FindProgram(options.program.front(), options.misplaced);
  if (!program.ok()) {
    std::cerr << "bsp: " << program.status().message() << "\n";
    return StatusOfFailure(program.status());
  }
  if (LinkedWithLibbsp(*program) == Linked::kNo) {
    std::cerr << "bsp: warning: " << *program
              << " is not linked with libbsp; compile it with bspcc\n";
  }
  if (const std::string mark = BatchLinesIn(*program); !mark.empty()) {
    std::cerr << "bsp: warning: the lines of " << mark << " in " << *program
              << " are not read, and each process runs the script; give the program itself, and"
                 " their options to bsp submit\n";
  }
  if (options.wait && !options.output.empty())
    if (absl::Status s = CheckOutputPlace(options.output); !s.ok()) return s;
  if (options.input.empty() && HasInputForJob()) options.input = "/dev/stdin";
  const absl::StatusOr<CoordinatorPlace> place = PlaceOf(line);
  if (!place.ok()) return place.status();
  EventLoop loop;
  JobStart start(loop, Say);
  int interrupted_by = 0;
  SignalWatch signals(loop, [&](int signal) {
    interrupted_by = signal;
    start.Interrupt();
  });
  const absl::StatusOr<JobStart::Accepted> accepted = start.Run(
      {.place = *place,
       .patience_ms = options.reconnect_s * kMsPerSecond,
       .reconnect_ms = options.reconnect_s * kMsPerSecond,
       .make = [options, path = *program] { return MakeSubmission(options, path); },
       .unseen = "the coordinator does not answer, and may accept the job all the same: see "
                 "`bsp jobs` when it does"});
  // What was accepted is named whatever comes now.
  if (accepted.ok() && !start.interrupted()) PrintSubmitted(accepted->reply, options);
  signals.Stop();
  if (start.interrupted()) {
    if (!accepted.status().message().empty()) Say(std::string(accepted.status().message()));
    return kSignalStatus + interrupted_by;
  }
  if (!accepted.ok()) return accepted.status();
  line.failure_status = kUnknownStatus;
  return options.wait ? WaitForAll(*accepted->jobs, accepted->reply, options.output) : 0;
}

void AddSubmit(CommandLine& line) {
  CLI::App* command = AddCommand(line, "submit", "Submit a job; prints its id");
  const auto options = std::make_shared<JobOptions>();
  AddSubmitOptions(*command, *options);
  command->add_flag("--json", options->json, kJsonText);
  command->callback([&line, command, options] {
    if (const std::string wrong = TakeRest(*command, *options); !wrong.empty()) {
      throw CLI::ValidationError(wrong);
    }
    if (options->array && !options->output.empty() && !HasJobId(options->output)) {
      throw CLI::ValidationError("--output " + options->output +
                                 ": the jobs of an array need a file each; put %j into its name");
    }
    line.chosen = [&line, options] { return SubmitJob(line, *options); };
  });
}

// ---- show ---------------------------------------------------------------------------------------

absl::StatusOr<int> ShowJob(JobsStub& jobs, const JobQuery& query) {
  int status = 0;
  for (const std::uint64_t id : query.jobs) {
    proto::ShowJobRequest request;
    request.set_job(id);
    const absl::StatusOr<proto::Job> job = jobs.Show(request);
    if (absl::IsNotFound(job.status())) {
      PrintFailure(job.status());
      status = kFailureStatus;
      continue;
    }
    if (!job.ok()) return job.status();
    std::cout << (query.json ? JsonText(JobJson(*job))
                             : JobText(*job, UnixMs(), ColoursFor(STDOUT_FILENO)));
  }
  return status;
}

// ---- checkpoint, suspend, resume ----------------------------------------------------------------

template <typename Request>
using JobCall = absl::StatusOr<proto::Job> (JobsStub::*)(const Request&);

void PrintNothing(const proto::Job&) {}

void PrintCheckpoint(const proto::Job& job) {
  std::cout << "job " << job.job() << ": checkpoint " << CheckpointText(job.checkpoints(), UnixMs())
            << "\n";
}

/// For each of the jobs; one that fails does not keep the others. `print` is for people.
template <typename Request>
absl::StatusOr<int> ForEachJob(
    const JobQuery& query, const std::function<absl::StatusOr<proto::Job>(const Request&)>& call,
    void (*print)(const proto::Job&)) {
  int status = 0;
  for (const std::uint64_t id : query.jobs) {
    Request request;
    request.set_job(id);
    const absl::StatusOr<proto::Job> job = call(request);
    if (!job.ok()) {
      PrintFailure(job.status());
      status = kFailureStatus;
    } else if (query.json) {
      std::cout << JsonText(JobJson(*job));
    } else {
      print(*job);
    }
  }
  return status;
}

template <typename Request, JobCall<Request> call>
absl::StatusOr<int> CallForEach(JobsStub& jobs, const JobQuery& query) {
  return ForEachJob<Request>(
      query, [&jobs](const Request& request) { return (jobs.*call)(request); }, PrintNothing);
}

// ---- checkpoint, suspend ------------------------------------------------------------------------

template <typename Request>
using SavingCall = absl::StatusOr<proto::Job> (JobsStub::*)(const Request&, std::uint64_t);

/// For each of the jobs what has to wait for its barrier.
template <typename Request, SavingCall<Request> call,
          void (*print)(const proto::Job&) = PrintNothing>
absl::StatusOr<int> SaveEachJob(JobsStub& jobs, const JobQuery& query) {
  const auto save = [&jobs, &query](const Request& request) -> absl::StatusOr<proto::Job> {
    const BarrierNotice notice(jobs, request.job());
    absl::StatusOr<proto::Job> job = (jobs.*call)(request, query.timeout_s);
    if (!absl::IsDeadlineExceeded(job.status())) return job;
    return absl::DeadlineExceededError(absl::StrCat(
        "job ", request.job(), " has not come to a barrier for ", query.timeout_s,
        " s; if its nodes have been told already it is still saved at its next; `bsp show ",
        request.job(), "` says whom that waits for"));
  };
  return ForEachJob<Request>(query, save, print);
}

// Its status is the job's; one of its own says that it could not learn that.
void AddWait(CommandLine& line) {
  CLI::App* command = AddCommand(line, "wait", "Wait for the end of a job; gives its exit status");
  const auto query = std::make_shared<JobQuery>();
  AddJobIds(*command, query->jobs)->required();
  command->add_flag("--json", query->json, kJsonText);
  AddReconnectOption(*command, query->reconnect_s, "Try this long to reach the coordinator [60s]");
  SetAction(line, command, [&line, query]() -> absl::StatusOr<int> {
    line.failure_status = kUnknownStatus;
    line.connect_s = query->reconnect_s;
    absl::StatusOr<JobsStub> jobs = ConnectTo(line);
    if (!jobs.ok()) return jobs.status();
    jobs->SetReconnectTimeout(query->reconnect_s * kMsPerSecond);
    return WaitJobs(*jobs, *query);
  });
}

}  // namespace

void AddJobCommands(CommandLine& line) {
  AddSubmit(line);
  AddWait(line);
  using Perform = absl::StatusOr<int> (*)(JobsStub&, const JobQuery&);
  const auto add = [&line](const std::string& name, const std::string& description,
                           Perform perform) {
    CLI::App* command = AddCommand(line, name, description);
    const auto query = std::make_shared<JobQuery>();
    AddJobIds(*command, query->jobs)->required();
    command->add_flag("--json", query->json, kJsonText);
    if (name == "checkpoint" || name == "suspend") AddTimeoutOption(*command, query->timeout_s);
    SetConnectedAction(line, command,
                       [query, perform](JobsStub& jobs) { return perform(jobs, *query); });
  };
  add("show", "Show all about a job, and why it waits", ShowJob);
  add("checkpoint", "Save a job at its next barrier",
      SaveEachJob<proto::CheckpointJobRequest, &JobsStub::Checkpoint, PrintCheckpoint>);
  add("suspend", "Save a job and free its slots",
      SaveEachJob<proto::SuspendJobRequest, &JobsStub::Suspend>);
  add("resume", "Let a suspended job continue",
      CallForEach<proto::ResumeJobRequest, &JobsStub::Resume>);
}

}  // namespace bspnow::client
