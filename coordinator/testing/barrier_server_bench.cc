// What the coordinator's loop spends: processor time for each worker and barrier, and for each
// worker that only renews its lease. The workers are sockets of another process.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "coordinator/core/job.h"
#include "coordinator/core/nodes.h"
#include "coordinator/loop_timers.h"
#include "coordinator/rpc/barrier_server.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"

namespace bspnow::coordinator {
namespace {

constexpr JobId kJob{1};
constexpr Epoch kEpoch{1};
const StreamKey kKey = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'k'));
constexpr std::uint64_t kBarriers = 5000;
constexpr std::uint32_t kIdleWorkers = 200;
constexpr std::uint64_t kIdleMs = 5000;

/// One worker that arrives again as soon as it is released; or, without barriers, renews its lease.
class Worker {
 public:
  Worker(EventLoop& loop, const SocketAddress& address, std::uint32_t id)
      : loop_(loop),
        id_(id),
        stream_(loop, address, SocketOptions{}, kKey,
                FrameStreamEvents{
                    .connected = nullptr,
                    .frame =
                        [this](const FrameHeader& header, std::span<const std::byte> payload) {
                          return OnFrame(FrameKind{header.kind}, payload);
                        },
                    .closed = [](const absl::Status&) { _exit(0); }}) {
    const HelloBody hello{.incarnation = id_, .target = 0, .term = 0};
    proof_.emplace(HeaderFor(FrameKind::kHello), BytesOf(hello));
    stream_.Send(proof_->header(), proof_->payload());
  }

  void Beat() {
    loop_.AddTimer(kIdleHeartbeatMs, [this] {
      const HeartbeatBody body{.sent_ns = 0};
      Send(FrameKind::kHeartbeat, BytesOf(body));
      Beat();
    });
  }

  void Begin(std::uint32_t nprocs) {
    const BeginBody body{.nprocs = nprocs, .reserved = 0};
    Send(FrameKind::kBegin, BytesOf(body));
    Arrive();
  }

 private:
  FrameFault OnFrame(FrameKind kind, std::span<const std::byte> payload) {
    if (kind == FrameKind::kBegin || kind == FrameKind::kRelease) Arrive();
    if (kind != FrameKind::kChallenge) return FrameFault::kNone;
    ProofBody answer;
    const FrameFault fault = proof_->OnChallenge(kKey, payload, answer);
    Send(FrameKind::kProof, BytesOf(answer));
    return fault;
  }

  void Arrive() {
    ArriveBody body{};
    body.barrier = barrier_++;
    body.processes = 1;
    Send(FrameKind::kArrive, BytesOf(body));
  }

  FrameHeader HeaderFor(FrameKind kind) const {
    FrameHeader header = HeaderOf(kind);
    header.job = Value(kJob);
    header.epoch = Value(kEpoch);
    header.source_worker = id_;
    return header;
  }
  void Send(FrameKind kind, std::span<const std::byte> payload) {
    stream_.Send(HeaderFor(kind), payload);
  }

  EventLoop& loop_;
  std::uint32_t id_;
  std::uint64_t barrier_ = 0;
  std::optional<ConnectingProof> proof_;
  FrameStream stream_;
};

/// The workers' process: until the coordinator's end closes.
[[noreturn]] void RunWorkers(const SocketAddress& address, std::uint32_t count, bool (*arrives)()) {
  EventLoop loop;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint32_t id = 1; id <= count; ++id) {
    workers.push_back(std::make_unique<Worker>(loop, address, id));
  }
  for (auto& worker : workers) {
    if (!arrives()) worker->Beat();
  }
  if (arrives()) loop.AddTimer(500, [&] { workers.front()->Begin(count); });
  loop.Run();
  _exit(0);
}

bool Always() { return true; }
bool Never() { return false; }

struct Server {
  Server(std::uint32_t workers, bool (*arrives)()) {
    server = *BarrierServer::Listen(loop, *Resolve(HostPort{.host = "127.0.0.1", .port = 0}));
    barriers = std::make_unique<Barriers>(timers, *server, 0, jobs, nodes, BarrierEvents{});
    server->Serve(*barriers, kKey);
    std::vector<BarrierHost> hosts;
    for (std::uint32_t id = 1; id <= workers; ++id) {
      proto::RegisterRequest request;
      request.mutable_node()->set_name(std::to_string(id));
      request.set_incarnation(id);
      Node& node = nodes.Add(WorkerId{id}, request, timers.Now().now_ns);
      node.reply.set_barrier_key(kKey.bytes());
      hosts.push_back({.worker = WorkerId{id}, .pids = {Pid{id - 1}}});
    }
    auto job =
        std::make_unique<LiveJob>(CheckpointRule{}, CheckpointLimits{}, JobCheckpoints::Plan{});
    job->running.emplace(kEpoch, EpochPlan{.nprocs = workers, .hosts = std::move(hosts)});
    jobs.emplace(kJob, JobRecord());
    jobs.at(kJob).live = std::move(job);
    const SocketAddress address = server->address();
    child = fork();
    BSP_CHECK(child >= 0);
    if (child == 0) RunWorkers(address, workers, arrives);
  }

  ~Server() {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }

  EventLoop loop;
  LoopTimers timers{loop};
  Jobs jobs;
  Nodes nodes{0};
  std::unique_ptr<BarrierServer> server;
  std::unique_ptr<Barriers> barriers;
  pid_t child;
};

void MeasureBarriers(std::uint32_t workers) {
  Server server(workers, Always);
  while (server.barriers->released() < kBarriers / 10) server.loop.RunOnce();
  const std::uint64_t first = server.barriers->released();
  const std::uint64_t start_ns = ProcessorNs();
  while (server.barriers->released() < first + kBarriers) server.loop.RunOnce();
  const double each_ns = static_cast<double>(ProcessorNs() - start_ns) / kBarriers / workers;
  printf("barrier of %3u workers: %5.2f us of processor time a worker\n", workers, each_ns / 1000);
}

void MeasureLeases() {
  Server server(kIdleWorkers, Never);
  const std::uint64_t until_ns = NowNs() + kIdleMs * 1'000'000;
  const std::uint64_t start_ns = ProcessorNs();
  while (NowNs() < until_ns) server.loop.RunOnce();
  const double part = static_cast<double>(ProcessorNs() - start_ns) / (kIdleMs * 1e6);
  printf("leases of %u workers: %.2f %% of a core\n", kIdleWorkers, 100 * part);
}

}  // namespace
}  // namespace bspnow::coordinator

int main() {
  for (const std::uint32_t workers : {2u, 8u, 64u}) bspnow::coordinator::MeasureBarriers(workers);
  bspnow::coordinator::MeasureLeases();
}
