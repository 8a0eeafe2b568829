// attach: a debugger for a process of a job, wherever that runs.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

#include "client/cluster/own_address.h"
#include "client/commands.h"
#include "client/view/job_json.h"
#include "client/view/job_view.h"
#include "files/whole_number.h"
#include "net/socket.h"

namespace bspnow::client {
namespace {

struct AttachOptions {
  std::uint64_t job = 0;
  std::uint32_t pid = 0;
  bool print = false;
  bool json = false;
};

/// A process of a job, as its machine knows it.
struct Found {
  std::string node;
  std::uint32_t os_pid;
};

absl::StatusOr<Found> FindProcess(const proto::Job& job, std::uint32_t pid) {
  if (pid >= job.spec().nprocs())
    return absl::NotFoundError(absl::StrCat("job ", job.job(), " has ", job.spec().nprocs(),
                                            " processes, and no pid ", pid));
  if (job.state() != proto::RUNNING)
    return absl::FailedPreconditionError(
        absl::StrCat("no process of job ", job.job(), " runs: ", StateName(job.state())));
  for (const proto::Placement& place : job.placement())
    for (int i = 0; i < std::min(place.pids_size(), place.os_pids_size()); ++i)
      if (place.pids(i) == pid && place.os_pids(i) != 0)
        return Found{.node = place.node(), .os_pid = place.os_pids(i)};
  return absl::UnavailableError(absl::StrCat(
      "pid ", pid, " of job ", job.job(),
      " has not been started yet, or has left, or is not yours; `bsp show` says where it is"));
}

absl::StatusOr<std::string> HostOf(JobsStub& stub, const std::string& name) {
  const absl::StatusOr<proto::ListNodesReply> listed = stub.ListNodes();
  if (!listed.ok()) return listed.status();
  for (const proto::Node& node : listed->nodes()) {
    if (node.spec().name() != name) continue;
    const auto address = ParseHostPort(node.address());
    return address.ok() ? address->host : name;
  }
  return name;
}

enum class Here { kMine, kForbidden, kNot };

// Who sees the environment of a process may trace it, by the same rule of the kernel's. What it
// says tells the process from one that has taken over its number, or has it in another container.
Here Look(std::uint32_t os_pid, std::uint32_t pid) {
  std::ifstream file(absl::StrCat("/proc/", os_pid, "/environ"));
  if (!file) return errno == EACCES || errno == EPERM ? Here::kForbidden : Here::kNot;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& variable : std::vector<std::string>(absl::StrSplit(text, '\0')))
    if (variable == absl::StrCat("BSP_PID=", pid)) return Here::kMine;
  return Here::kNot;
}

absl::Status Debug(std::uint32_t os_pid) {
  const std::string number = absl::StrCat(os_pid);
  std::cout.flush();
  execlp("gdb", "gdb", "-p", number.c_str(), nullptr);
  return absl::FailedPreconditionError(absl::StrCat("cannot run gdb: ", strerror(errno),
                                                    "; install it here (apt install gdb), or use "
                                                    "another debugger on process ",
                                                    os_pid));
}

absl::StatusOr<int> Attach(JobsStub& stub, const AttachOptions& options) {
  proto::ShowJobRequest request;
  request.set_job(options.job);
  const absl::StatusOr<proto::Job> job = stub.Show(request);
  if (!job.ok()) return job.status();
  const absl::StatusOr<Found> found = FindProcess(*job, options.pid);
  if (!found.ok()) return found.status();
  const absl::StatusOr<std::string> host = HostOf(stub, found->node);
  if (!host.ok()) return host.status();
  const Here here = IsThisMachine(*host) ? Look(found->os_pid, options.pid) : Here::kNot;
  const std::string gdb = absl::StrCat("gdb -p ", found->os_pid);
  const std::string command = here == Here::kMine        ? gdb
                              : here == Here::kForbidden ? "sudo " + gdb
                                                         : absl::StrCat("ssh -t ", *host, " ", gdb);
  if (options.json) {
    std::cout << JsonText({{"job", options.job},
                           {"pid", options.pid},
                           {"os_pid", found->os_pid},
                           {"node", found->node},
                           {"command", command}});
    return 0;
  }
  if (here == Here::kMine && !options.print) return Debug(found->os_pid);
  std::cout << command << "\n";
  return 0;
}

}  // namespace

void AddAttachCommand(CommandLine& line) {
  CLI::App* command = AddCommand(line, "attach", "Debug a process of a job with gdb");
  const auto options = std::make_shared<AttachOptions>();
  AddJobId(*command, options->job);
  command->add_option("--pid", options->pid, "Which process")
      ->required()
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->type_name("PID");
  command->add_flag("--print", options->print, "Print the command only, which is run here");
  command->add_flag("--json", options->json, kJsonText);
  SetConnectedAction(line, command, [options](JobsStub& stub) { return Attach(stub, *options); });
}

}  // namespace bspnow::client
