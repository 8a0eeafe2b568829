#include "coordinator/rpc/barrier_server.h"

#include <absl/strings/str_cat.h>
#include <string.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kTickMs = 100;
constexpr std::uint64_t kDeafNs = 500'000'000;     // Between two ticks; anything less is load.
constexpr std::uint64_t kHelloNs = 5'000'000'000;  // A connection says who it is, or goes.
constexpr std::size_t kConnectionsMax = 8192;
constexpr std::size_t kQueuedBytesMax = 64 << 20;  // A worker that reads nothing is cut off.

// The body that the payload must consist of.
template <typename Body>
std::optional<Body> BodyOf(std::span<const std::byte> payload) {
  Body body;
  if (payload.size() != sizeof body) return std::nullopt;
  memcpy(&body, payload.data(), sizeof body);
  return body;
}

std::string Name(WorkerId worker) { return absl::StrCat("worker=", Value(worker)); }

}  // namespace

const char* RefusalName(Refusal refusal) {
  switch (refusal) {
    case Refusal::kMalformed:
      return "malformed";
    case Refusal::kUnknownWorker:
      return "unknown_worker";
    case Refusal::kUnknownJob:
      return "unknown_job";
    case Refusal::kOldEpoch:
      return "old_epoch";
    case Refusal::kContradiction:
      return "contradiction";
    case Refusal::kCount:
      break;
  }
  return "";
}

absl::StatusOr<std::unique_ptr<BarrierServer>> BarrierServer::Listen(EventLoop& loop,
                                                                     const SocketAddress& address,
                                                                     BarrierServerEvents events) {
  auto server = std::make_unique<BarrierServer>(loop, std::move(events));
  absl::StatusOr<std::unique_ptr<Listener>> listener = Listener::Create(
      loop, address, SocketOptions{},
      [server = server.get()](Accepted accepted) { server->OnAccepted(std::move(accepted)); });
  if (!listener.ok()) return listener.status();
  server->listener_ = *std::move(listener);
  return server;
}

BarrierServer::BarrierServer(EventLoop& loop, BarrierServerEvents events)
    : loop_(loop), events_(std::move(events)), last_tick_ns_(NowNs()) {
  Tick();
}

BarrierServer::~BarrierServer() {
  *alive_ = false;
  loop_.CancelTimer(tick_);
}

// ---- Connections --------------------------------------------------------------------------------

void BarrierServer::OnAccepted(Accepted accepted) {
  if (connections_.size() >= kConnectionsMax) return Note("refused=connection reason=too_many");
  const ConnectionId id{++last_connection_};
  Connection& connection = connections_[id];
  connection.peer = accepted.peer.ToString();
  connection.accepted_ns = NowNs();
  connection.stream = std::make_unique<FrameStream>(
      loop_, std::move(accepted.fd),
      FrameStreamEvents{
          .connected = nullptr,
          .frame = [this, id](
                       const FrameHeader& header,
                       std::span<const std::byte> payload) { return OnFrame(id, header, payload); },
          .closed = [this, id](const absl::Status& reason) { OnClosed(id, reason); }});
}

void BarrierServer::OnClosed(ConnectionId id, const absl::Status& reason) {
  Connection& connection = connections_.at(id);
  faults_[static_cast<std::size_t>(connection.stream->fault())] += 1;
  Note(absl::StrCat("event=stream_closed ", Name(connection.worker), " peer=", connection.peer,
                    " reason=\"", std::string(reason.message()), "\""));
  Discard(id);
}

void BarrierServer::Discard(ConnectionId id) {
  Connection& connection = connections_.at(id);
  const auto worker = workers_.find(connection.worker);
  if (worker != workers_.end() && worker->second.connection == id) {
    worker->second.connection = kNoConnection;
    leases_.OnBroken(connection.worker, NowNs());
  }
  connection.worker = WorkerId{0};
  loop_.Post([this, id, alive = alive_] {
    if (!*alive) return;
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    closed_bytes_read_ += found->second.stream->bytes_read();
    closed_bytes_written_ += found->second.stream->bytes_written();
    connections_.erase(found);
  });
}

FrameStream* BarrierServer::StreamOf(WorkerId worker) {
  const auto found = workers_.find(worker);
  if (found == workers_.end() || found->second.connection == kNoConnection) return nullptr;
  return connections_.at(found->second.connection).stream.get();
}

void BarrierServer::Tick() {
  const std::uint64_t now_ns = NowNs();
  for (auto& [id, connection] : connections_) {
    const bool unknown = connection.worker == WorkerId{0};
    const bool late = unknown && now_ns - connection.accepted_ns > kHelloNs;
    if (!connection.stream->open() ||
        (!late && connection.stream->queued_bytes() <= kQueuedBytesMax)) {
      continue;
    }
    connection.stream->Close(late ? "no Hello came" : "the receiver reads nothing");
    Discard(id);
  }
  // What came meanwhile is still to be read; a pause of the coordinator is not to cost a job.
  if (now_ns - last_tick_ns_ > kDeafNs) leases_.OnDeaf(now_ns - last_tick_ns_, now_ns);
  last_tick_ns_ = now_ns;
  for (const LostLease& lost : leases_.TakeLost(now_ns)) {
    ForgetWorker(lost.worker);
    events_.worker_lost(lost.worker, lost.reason);
  }
  tick_ = loop_.AddTimer(kTickMs, [this] { Tick(); });
}

// ---- Workers ------------------------------------------------------------------------------------

void BarrierServer::AdmitWorker(WorkerId worker, std::uint64_t incarnation) {
  workers_[worker] = Worker{.incarnation = incarnation};
  leases_.Admit(worker, NowNs());
}

void BarrierServer::ForgetWorker(WorkerId worker) {
  leases_.Forget(worker);
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  const ConnectionId connection = found->second.connection;
  workers_.erase(found);
  if (connection == kNoConnection) return;
  connections_.at(connection).stream->Close("the lease is over");
  Discard(connection);
}

bool BarrierServer::Connected(WorkerId worker) const {
  const auto found = workers_.find(worker);
  return found != workers_.end() && found->second.connection != kNoConnection;
}

std::uint64_t BarrierServer::LeaseAgeNs(WorkerId worker) const {
  return leases_.AgeNs(worker, NowNs());
}

// ---- Frames -------------------------------------------------------------------------------------

FrameFault BarrierServer::OnFrame(ConnectionId id, const FrameHeader& header,
                                  std::span<const std::byte> payload) {
  Connection& connection = connections_.at(id);
  const FrameKind kind{header.kind};
  if (kind == FrameKind::kHello) return OnHello(id, header, payload);
  if (kind == FrameKind::kAbort) return FrameFault::kNone;  // `closed` follows, and says so.
  if (connection.worker == WorkerId{0} || WorkerId{header.source_worker} != connection.worker) {
    return Refuse(Refusal::kUnknownWorker);
  }
  switch (kind) {
    case FrameKind::kHeartbeat:
      return OnHeartbeat(connection, payload);
    case FrameKind::kArrive:
      return OnArrive(header, payload);
    case FrameKind::kBegin:
      return OnBegin(header, payload);
    case FrameKind::kProgress:
      return OnProgress(header, payload);
    default:
      return Refuse(Refusal::kMalformed);
  }
}

FrameFault BarrierServer::OnHello(ConnectionId id, const FrameHeader& header,
                                  std::span<const std::byte> payload) {
  const std::optional<HelloBody> hello = BodyOf<HelloBody>(payload);
  if (!hello.has_value() || hello->target != 0) return Refuse(Refusal::kMalformed);
  const WorkerId id_of_worker{header.source_worker};
  const auto worker = workers_.find(id_of_worker);
  if (worker == workers_.end() || worker->second.incarnation != hello->incarnation ||
      hello->term != term_) {
    return Refuse(Refusal::kUnknownWorker);
  }
  const ConnectionId earlier = worker->second.connection;
  if (earlier == id) return Refuse(Refusal::kMalformed);
  if (earlier != kNoConnection) {
    connections_.at(earlier).stream->Close("the worker has connected anew");
    Discard(earlier);
  }
  Connection& connection = connections_.at(id);
  connection.worker = id_of_worker;
  worker->second.connection = id;
  leases_.OnConnected(id_of_worker, NowNs());
  Note(absl::StrCat("event=worker_connected ", Name(id_of_worker), " peer=", connection.peer));
  connection.stream->Send(HeaderOf(FrameKind::kWelcome), {});
  for (const auto& [job_id, job] : jobs_) {  // It may have missed a Begin.
    if (job.barrier.processes() != 0) SendBegin(job_id, job, id_of_worker);
  }
  return FrameFault::kNone;
}

FrameFault BarrierServer::OnHeartbeat(Connection& connection, std::span<const std::byte> payload) {
  if (payload.size() != sizeof(HeartbeatBody)) return Refuse(Refusal::kMalformed);
  leases_.OnRenewed(connection.worker, NowNs());
  connection.stream->Send(HeaderOf(FrameKind::kLease), payload);
  return FrameFault::kNone;
}

FrameFault BarrierServer::OnBegin(const FrameHeader& header, std::span<const std::byte> payload) {
  const std::optional<BeginBody> body = BodyOf<BeginBody>(payload);
  if (!body.has_value()) return Refuse(Refusal::kMalformed);
  RunningJob* job = Lookup(header);
  if (job == nullptr) return FrameFault::kNone;
  const WorkerId from{header.source_worker};
  switch (job->barrier.OnBegin(from, body->nprocs)) {
    case BarrierVerdict::kRefused:
      Break(header, *job);
      break;
    case BarrierVerdict::kTellBegin:
      job->stats->SetProcesses(body->nprocs);
      for (std::size_t i = 0; i < job->barrier.hosts(); ++i) {
        const WorkerId worker = job->barrier.worker(i);
        if (worker != from) SendBegin(JobId{header.job}, *job, worker);
      }
      break;
    default:
      break;
  }
  return FrameFault::kNone;
}

FrameFault BarrierServer::OnArrive(const FrameHeader& header, std::span<const std::byte> payload) {
  const std::optional<ArriveView> arrive = ArriveView::Decode(payload);
  if (!arrive.has_value()) return Refuse(Refusal::kMalformed);
  RunningJob* job = Lookup(header);
  if (job == nullptr) return FrameFault::kNone;
  Barrier& barrier = job->barrier;
  const WorkerId from{header.source_worker};
  switch (barrier.OnArrive(from, *arrive)) {
    case BarrierVerdict::kRelease:
      OnSuperstepOver(header, *job);
      for (std::size_t i = 0; i < barrier.hosts(); ++i) {
        if (barrier.takes_part(i)) SendRelease(header, *job, i);
      }
      barriers_released_ += 1;
      if (const SuperstepSums* sums = barrier.sums()) job->stats->Record(*sums);
      break;
    case BarrierVerdict::kRepeat:
      SendRelease(header, *job, barrier.HostOf(from));
      break;
    case BarrierVerdict::kRefused:
      Break(header, *job);
      break;
    default:
      break;
  }
  return FrameFault::kNone;
}

void BarrierServer::OnSuperstepOver(const FrameHeader& arrive, RunningJob& job) {
  const std::uint64_t passed = job.barrier.current() == 1 ? 0 : arrive.superstep + 1;
  job.superstep = Superstep{Value(job.first_superstep) + passed};
  // Recorded is what ended before the barrier before.
  if (std::exchange(job.adopted, false) && passed > 2) job.stats->SkipTo(Value(job.superstep) - 2);
  if (!job.barrier.may_checkpoint() || !events_.superstep_over) return;
  const ReleaseDirective directive =
      events_.superstep_over(JobId{arrive.job}, job.epoch, job.superstep);
  if (directive.checkpoint != 0) job.barrier.Direct(directive);
}

FrameFault BarrierServer::OnProgress(const FrameHeader& header,
                                     std::span<const std::byte> payload) {
  const std::optional<ProgressBody> progress = BodyOf<ProgressBody>(payload);
  if (!progress.has_value()) return Refuse(Refusal::kMalformed);
  RunningJob* job = Lookup(header);
  if (job == nullptr) return FrameFault::kNone;
  job->stats->RecordProgress(*progress);
  job->superstep = Superstep{Value(job->first_superstep) + progress->supersteps};
  if (events_.progressed) events_.progressed(JobId{header.job}, job->epoch, job->superstep);
  return FrameFault::kNone;
}

void BarrierServer::SendBegin(JobId id, const RunningJob& job, WorkerId worker) {
  FrameStream* stream = StreamOf(worker);
  if (stream == nullptr || job.barrier.HostOf(worker) == job.barrier.hosts()) return;
  const BeginBody body{.nprocs = job.barrier.processes(), .reserved = 0};
  FrameHeader header = HeaderOf(FrameKind::kBegin);
  header.job = Value(id);
  header.epoch = Value(job.epoch);
  stream->Send(header, BytesOf(body));
}

// To a worker that is not connected nothing is sent: it repeats its Arrive when it is.
void BarrierServer::SendRelease(const FrameHeader& arrive, const RunningJob& job,
                                std::size_t host) {
  FrameStream* stream = StreamOf(job.barrier.worker(host));
  if (stream == nullptr) return;
  FrameHeader header = HeaderOf(FrameKind::kRelease);
  header.job = arrive.job;
  header.epoch = arrive.epoch;
  header.superstep = arrive.superstep;
  header.group = arrive.group;
  stream->Send(header, job.barrier.release(host));
}

// ---- What is refused ----------------------------------------------------------------------------

FrameFault BarrierServer::Refuse(Refusal refusal) {
  refused_[static_cast<std::size_t>(refusal)] += 1;
  return FrameFault::kMalformed;
}

BarrierServer::RunningJob* BarrierServer::Lookup(const FrameHeader& header) {
  const auto found = jobs_.find(JobId{header.job});
  if (found == jobs_.end() || found->second.broken || GroupId{header.group} != kRootGroup) {
    Refuse(Refusal::kUnknownJob);
    return nullptr;
  }
  if (Epoch{header.epoch} != found->second.epoch) {
    Refuse(Refusal::kOldEpoch);
    return nullptr;
  }
  return &found->second;
}

void BarrierServer::Break(const FrameHeader& header, RunningJob& job) {
  Refuse(Refusal::kContradiction);
  job.broken = true;
  const std::string reason =
      absl::StrCat(Name(WorkerId{header.source_worker}), ": ", job.barrier.refusal());
  loop_.Post([this, reason, id = JobId{header.job}, epoch = job.epoch, alive = alive_] {
    if (*alive) events_.job_broken(id, epoch, reason);
  });
}

void BarrierServer::Note(const std::string& line) const {
  if (events_.note) events_.note(line);
}

}  // namespace bspnow
