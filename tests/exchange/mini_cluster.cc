// A cluster without its control plane: mini_cluster NODES P PROGRAM [ARGUMENT...] runs a BSP
// program with P processes on NODES nodes, each a child of this process with a data plane of its
// own; this one holds the barrier. For tests and measurements of the superstep path alone.
// Variables:
//   MINI_CUT_MS      every node breaks one of its connections, at random, that often at first, and
//                    each time 1 ms later
//   MINI_RESTART_MS  the barrier's server dies that often, and another one takes its place
//   MINI_DIRECT      the nodes release themselves
//   MINI_CONGESTION  TCP_CONGESTION of the data planes' sockets, reno without it
//   MINI_TRUST_TCP   the nodes have no checksums but TCP's: --integrity=tcp of a worker
//   MINI_VERBOSE     nodes and coordinator say what they do
#include <absl/strings/str_cat.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/environment.h"
#include "base/raised_limits.h"
#include "base/unique_fd.h"
#include "coordinator/core/job.h"
#include "coordinator/core/nodes.h"
#include "coordinator/loop_timers.h"
#include "coordinator/rpc/barrier_server.h"
#include "net/event_loop.h"
#include "net/stream_key.h"
#include "tests/exchange/node_pipes.h"
#include "worker/exchange/data_plane.h"
#include "worker/exchange/doorbell_ends.h"
#include "worker/exchange/node_segment.h"
#include "worker/host/process_host.h"
#include "worker/host/spawn.h"

namespace bspnow::worker {
namespace {

using coordinator::BarrierEvents;
using coordinator::BarrierHost;
using coordinator::Barriers;
using coordinator::BarrierServer;
using coordinator::CheckpointLimits;
using coordinator::CheckpointRule;
using coordinator::EpochOrigin;
using coordinator::LiveJob;
using coordinator::LoopTimers;
using Plan = coordinator::JobCheckpoints::Plan;

constexpr JobId kJob{1};
constexpr Epoch kEpoch{1};
constexpr std::uint64_t kIncarnation = 4711;
const StreamKey kKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));
constexpr std::uint64_t kHeartbeatMs = 250;
constexpr std::uint64_t kAfterwardsMs = 300;
constexpr int kBroken = 3;

struct Options {
  std::uint32_t nodes;
  std::uint32_t nprocs;
  std::string program;
  std::vector<std::string> arguments;
  bool direct;
};

WorkerId WorkerOf(std::uint32_t node) { return WorkerId{node + 1}; }

// Blocks of consecutive pids, as even as possible.
std::vector<std::vector<Pid>> Spread(std::uint32_t nodes, std::uint32_t nprocs) {
  std::vector<std::vector<Pid>> hosts(nodes);
  for (std::uint32_t pid = 0; pid < nprocs; ++pid) {
    hosts[std::uint64_t{pid} * nodes / nprocs].push_back(Pid{pid});
  }
  return hosts;
}

// ---- A node -------------------------------------------------------------------------------------

class Node final : public ProcessOwner {
 public:
  Node(const Options& options, std::uint32_t number) : options_(options), number_(number) {}

  int Run(int from_parent, int to_parent);

 private:
  void Join(int from_parent);
  void AddJob(const std::vector<std::string>& addresses);
  void OnBegun(Pid) override {}
  void OnOutput(Pid, Stream stream, std::string_view text) override {
    fwrite(text.data(), 1, text.size(), stream == Stream::kOutput ? stdout : stderr);
    fflush(stdout);
  }
  void OnOutputEnded(Pid, Stream) override {}
  void OnExited(Pid, int wait_status, const ProcessUsage&) override;
  void Fail(const std::string& reason);
  void CutLater(std::uint64_t after_ms);
  absl::Status StartProcesses();

  const Options& options_;
  std::uint32_t number_;
  RaisedLimits limits_;
  EventLoop loop_;
  std::unique_ptr<DataPlane> plane_;
  std::unique_ptr<NodeSegment> segment_;
  std::unique_ptr<ProcessHost> host_;
  DoorbellEnds doorbell_;
  MailboxEnds mailbox_;
  std::vector<std::vector<Pid>> hosts_;
  std::size_t running_ = 0;
  int status_ = 0;
  std::mt19937 random_{number_};
};

void Node::Fail(const std::string& reason) {
  fprintf(stderr, "node %u: %s\n", number_, reason.c_str());
  status_ = kBroken;
  host_->KillAll();
}

// Breaks a TCP connection of this process, as a network might.
void Node::CutLater(std::uint64_t after_ms) {
  loop_.AddTimer(after_ms, [this, after_ms] {
    std::vector<int> connections;
    for (int fd = 3; fd < 256; ++fd) {
      sockaddr_storage peer;
      socklen_t bytes = sizeof peer;
      const int failed = getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes);
      if (failed == 0 && peer.ss_family == AF_INET) connections.push_back(fd);
    }
    if (!connections.empty()) shutdown(connections[random_() % connections.size()], SHUT_RDWR);
    // On a machine that is busy none might be open for long enough, else.
    CutLater(after_ms + 1);
  });
}

void Node::OnExited(Pid, int wait_status, const ProcessUsage&) {
  const int status =
      WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  if (status_ == 0) status_ = status;
  if (--running_ == 0) loop_.Stop();
  if (status != 0) host_->KillAll();
}

void Node::AddJob(const std::vector<std::string>& addresses) {
  hosts_ = Spread(options_.nodes, options_.nprocs);
  const char* check = getenv("BSP_CHECK");
  absl::StatusOr<NodeSegment> segment =
      NodeSegment::Create(SegmentPlan{.job = kJob,
                                      .epoch = kEpoch,
                                      .nprocs = options_.nprocs,
                                      .check_full = check != nullptr && strcmp(check, "full") == 0,
                                      .memory_bytes = std::uint64_t{8} << 30});
  BSP_CHECK(segment.ok());
  segment_ = std::make_unique<NodeSegment>(*std::move(segment));
  segment_->Place(number_, hosts_);
  absl::StatusOr<DoorbellEnds> doorbell = MakeDoorbell();
  BSP_CHECK(doorbell.ok());
  doorbell_ = *std::move(doorbell);
  absl::StatusOr<MailboxEnds> mailbox = MakeMailbox();
  BSP_CHECK(mailbox.ok());
  mailbox_ = *std::move(mailbox);
  JobPlan plan{.job = kJob,
               .epoch = kEpoch,
               .hosts = {},
               .segment = segment_.get(),
               .doorbell = options_.nodes > 1 ? doorbell_.worker.get() : -1,
               .mailbox = options_.nodes > 1 ? mailbox_.worker.get() : -1,
               .direct = options_.direct,
               .key = kKey};
  for (std::uint32_t k = 0; k < options_.nodes; ++k) {
    plan.hosts.push_back(PlannedHost{.worker = WorkerOf(k),
                                     .data_address = addresses[k],
                                     .node = absl::StrCat("w", k),
                                     .pids = hosts_[k]});
  }
  plane_->AddJob(plan);
}

absl::Status Node::StartProcesses() {
  const SharedMemory memory{.segment = segment_->fd(),
                            .segment_bytes = segment_->bytes(),
                            .doorbell = options_.nodes > 1 ? doorbell_.processes.get() : -1,
                            .mailbox = options_.nodes > 1 ? mailbox_.processes.get() : -1};
  host_ = std::make_unique<ProcessHost>(loop_, memory, *this);
  running_ = hosts_[number_].size();
  return host_->Start(
      ProcessPlan{.program = options_.program,
                  .arguments = options_.arguments,
                  .environment = EnvironmentWith({}),
                  .directory = "",
                  .pids = hosts_[number_],
                  .input = -1,
                  .processors = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)),
                  .limits = limits_});
}

int Node::Run(int from_parent, int to_parent) {
  spdlog::set_pattern(absl::StrCat("node ", number_, ": %v"));
  loop_.EnablePolling();
  const char* congestion = getenv("MINI_CONGESTION");
  absl::StatusOr<std::unique_ptr<DataPlane>> plane = DataPlane::Create(
      loop_,
      DataPlaneSettings{.listen = "127.0.0.1:0",
                        .congestion = congestion == nullptr ? "reno" : congestion,
                        .incarnation = kIncarnation,
                        .integrity = getenv("MINI_TRUST_TCP") != nullptr ? Integrity::kTcp
                                                                         : Integrity::kChecksums},
      DataPlaneEvents{.broken = [this](JobId, Epoch, ExchangeFault,
                                       const std::string& reason) { Fail(reason); },
                      .lease_renewed = nullptr});
  BSP_CHECK(plane.ok());
  plane_ = *std::move(plane);
  WriteLine(to_parent, plane_->data_address());
  const std::string barrier = ReadLine(from_parent);
  std::vector<std::string> addresses;
  for (std::uint32_t k = 0; k < options_.nodes; ++k) addresses.push_back(ReadLine(from_parent));
  plane_->JoinCoordinator(CoordinatorPlan{.self = WorkerOf(number_),
                                          .barrier_address = barrier,
                                          .heartbeat_ms = kHeartbeatMs,
                                          .stream_key = kKey,
                                          .barrier_key = kKey});
  AddJob(addresses);
  if (const absl::Status started = StartProcesses(); !started.ok()) {
    fprintf(stderr, "%s\n", std::string(started.message()).c_str());
    return kBroken;
  }
  if (const char* cut = getenv("MINI_CUT_MS")) CutLater(strtoull(cut, nullptr, 10));
  if (running_ != 0) loop_.Run();
  // A coordinator may still ask where the others are to go on, or one of them wait for an arrival,
  // or for a frame that a connection lost when it broke.
  if (getenv("MINI_RESTART_MS") || getenv("MINI_CUT_MS") || options_.direct) {
    loop_.AddTimer(kAfterwardsMs, [this] { loop_.Stop(); });
    loop_.Run();
  }
  host_->Finish();
  plane_->RemoveJob(kJob, kEpoch);
  return status_;
}

// ---- All together -------------------------------------------------------------------------------

struct Child {
  pid_t os_pid;
  UniqueFd to_child;
  UniqueFd from_child;
};

Child StartNode(const Options& options, std::uint32_t number) {
  Pipes down = MakePipe();
  Pipes up = MakePipe();
  const pid_t os_pid = fork();
  if (os_pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    down.write_end.Reset();
    up.read_end.Reset();
    int status;
    {
      Node node(options, number);
      status = node.Run(down.read_end.get(), up.write_end.get());
    }
    _exit(status);
  }
  return Child{os_pid, std::move(down.write_end), std::move(up.read_end)};
}

void KillAll(const std::vector<Child>& children) {
  for (const Child& child : children) kill(child.os_pid, SIGKILL);
}

/// The coordinator, as far as barriers go.
class Coordinator {
 public:
  Coordinator(EventLoop& loop, const Options& options, std::function<void()> broken)
      : loop_(loop), options_(options), broken_(std::move(broken)) {
    Start(SocketAddress(*Resolve(HostPort{"127.0.0.1", 0})), EpochOrigin::kStarted);
    if (const char* often = getenv("MINI_RESTART_MS")) RestartLater(strtoull(often, nullptr, 10));
  }

  std::string address() const { return server_->address().ToString(); }

 private:
  void Start(const SocketAddress& address, EpochOrigin origin) {
    BarrierEvents events;
    events.connected = [this](WorkerId worker) { barriers_->TellBegin(kJob, worker); };
    events.worker_lost = [](WorkerId, const std::string&) {};
    events.job_broken = [this](JobId, Epoch, const std::string& reason) {
      fprintf(stderr, "coordinator: %s\n", reason.c_str());
      broken_();
    };
    server_ = *BarrierServer::Listen(loop_, address);
    barriers_ = std::make_unique<Barriers>(timers_, *server_, 0, jobs_, nodes_, std::move(events));
    server_->Serve(*barriers_, kKey);
    const auto pids = Spread(options_.nodes, options_.nprocs);
    coordinator::EpochPlan job{
        .nprocs = options_.nprocs, .hosts = {}, .origin = origin, .direct = options_.direct};
    for (std::uint32_t k = 0; k < options_.nodes; ++k) {
      proto::RegisterRequest request;
      request.mutable_node()->set_name(std::to_string(k));
      request.set_incarnation(kIncarnation);
      nodes_.Add(WorkerOf(k), request, timers_.Now().now_ns).reply.set_barrier_key(kKey.bytes());
      job.hosts.push_back(BarrierHost{.worker = WorkerOf(k), .pids = pids[k]});
    }
    coordinator::Job& added = jobs_.insert_or_assign(kJob, coordinator::Job({})).first->second;
    added.live = std::make_unique<LiveJob>(CheckpointRule{}, CheckpointLimits{}, Plan{});
    added.live->running.emplace(kEpoch, std::move(job));
  }

  void RestartLater(std::uint64_t after_ms) {
    loop_.AddTimer(after_ms, [this, after_ms] {
      const SocketAddress address = server_->address();
      server_.reset();
      barriers_.reset();
      nodes_ = coordinator::Nodes(0);
      Start(address, EpochOrigin::kAdopted);
      RestartLater(after_ms);
    });
  }

  EventLoop& loop_;
  const Options& options_;
  std::function<void()> broken_;
  LoopTimers timers_{loop_};
  coordinator::Jobs jobs_;
  coordinator::Nodes nodes_{0};
  std::unique_ptr<Barriers> barriers_;
  std::unique_ptr<BarrierServer> server_;
};

int RunCluster(const Options& options) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("mini_cluster"));
  if (getenv("MINI_VERBOSE") == nullptr) spdlog::set_level(spdlog::level::off);
  signal(SIGPIPE, SIG_IGN);
  std::vector<Child> children;
  for (std::uint32_t k = 0; k < options.nodes; ++k) children.push_back(StartNode(options, k));
  EventLoop loop;
  loop.EnablePolling();
  const Coordinator coordinator(loop, options, [&] { KillAll(children); });
  std::string addresses = coordinator.address();
  for (const Child& child : children) {
    absl::StrAppend(&addresses, "\n", ReadLine(child.from_child.get()));
  }
  std::size_t running = children.size();
  int result = 0;
  for (const Child& child : children) {
    WriteLine(child.to_child.get(), addresses);
    loop.OnReadable(child.from_child.get(), [&, fd = child.from_child.get(), pid = child.os_pid] {
      loop.Forget(fd);  // The end of the node.
      int status = 0;
      waitpid(pid, &status, 0);
      if (result == 0) {
        result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (result != 0) KillAll(children);  // The first failure is the job's.
      }
      if (--running == 0) loop.Stop();
    });
  }
  loop.Run();
  return result;
}

}  // namespace
}  // namespace bspnow::worker

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s NODES P PROGRAM [ARGUMENT...]\n", argv[0]);
    return 2;
  }
  const bspnow::worker::Options options{
      .nodes = static_cast<std::uint32_t>(atoi(argv[1])),
      .nprocs = static_cast<std::uint32_t>(atoi(argv[2])),
      .program = argv[3],
      .arguments = std::vector<std::string>(argv + 3, argv + argc),
      .direct = atoi(argv[1]) > 1 && getenv("MINI_DIRECT") != nullptr};
  return bspnow::worker::RunCluster(options);
}
