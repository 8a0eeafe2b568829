#include "coordinator/core/barriers.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "net/frame_body.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kTickMs = 100;
constexpr std::uint64_t kPausedNs = 500'000'000;  // Between two ticks; anything less is load.

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

Barriers::Barriers(Timers& timers, WorkerFrames& frames, std::uint64_t term, Jobs& jobs,
                   Nodes& nodes, BarrierEvents events)
    : timers_(timers),
      frames_(frames),
      term_(static_cast<std::uint32_t>(term)),
      jobs_(jobs),
      nodes_(nodes),
      events_(std::move(events)),
      last_tick_ns_(NowNs()) {
  Tick();
}

Barriers::~Barriers() { timers_.CancelTimer(tick_); }

// What came meanwhile is still to be read; a pause of the coordinator is not to cost a job.
void Barriers::NotePause() {
  const std::uint64_t now_ns = NowNs();
  const std::uint64_t since_ns = now_ns - last_tick_ns_;
  if (since_ns <= kPausedNs) return;
  last_tick_ns_ = now_ns;
  for (const auto& [worker, node] : nodes_.up()) node->OnPaused(since_ns, now_ns);
  if (events_.paused) events_.paused(since_ns);
}

void Barriers::Tick() {
  NotePause();
  const std::uint64_t now_ns = NowNs();
  last_tick_ns_ = now_ns;
  std::vector<std::pair<WorkerId, std::string>> lost;
  for (const auto& [worker, node] : nodes_.up()) {
    if (std::string deaf = node->WhyDeaf(now_ns); !deaf.empty()) {
      node->GiveUp(deaf, now_ns);
      CloseStream(*node);
    }
    if (std::string why = node->WhyLost(now_ns); !why.empty())
      lost.emplace_back(worker, std::move(why));
  }
  for (const auto& [worker, why] : lost) events_.worker_lost(worker, why);
  tick_ = timers_.AddTimer(kTickMs, [this] { Tick(); });
}

// ---- The nodes' streams -------------------------------------------------------------------------

StreamKey Barriers::KeyOf(WorkerId worker) const {
  const Node* const node = nodes_.Find(worker);
  if (node == nullptr) return StreamKey();
  return StreamKey::FromBytes(node->reply.barrier_key()).value_or(StreamKey());
}

FrameFault Barriers::OnHello(const FrameHeader& header, std::span<const std::byte> payload) {
  const std::optional<HelloBody> hello = BodyFrom<HelloBody>(payload);
  if (!hello.has_value() || hello->target != 0) return Refuse(Refusal::kMalformed);
  const Node* node = nodes_.Find(WorkerId{header.source_worker});
  if (node == nullptr || node->registration.incarnation() != hello->incarnation ||
      hello->term != term_ || !node->given_up.empty())
    return Refuse(Refusal::kUnknownWorker);
  return FrameFault::kNone;
}

void Barriers::OnConnected(WorkerId worker) {
  Node* node = nodes_.Find(worker);
  if (node == nullptr) return;
  node->lease.OnConnected(NowNs());
  frames_.Send(worker, HeaderOf(FrameKind::kWelcome), {});
  if (events_.connected) events_.connected(worker);
}

void Barriers::TellBegin(JobId id, WorkerId worker) {
  const auto job = jobs_.find(id);
  if (job != jobs_.end() && job->second.live && job->second.live->participants() != 0)
    SendBegin(id, *job->second.live->running, worker);
}

void Barriers::OnDisconnected(WorkerId worker) {
  if (Node* node = nodes_.Find(worker)) node->lease.OnBroken(NowNs());
}

void Barriers::GiveUp(WorkerId worker, const std::string& reason) {
  Node* const node = nodes_.Find(worker);
  if (node == nullptr) return;
  node->GiveUp(reason, NowNs());
  CloseStream(*node);
}

void Barriers::CloseStream(const Node& node) {
  if (node.lease.connected()) frames_.Close(node.worker, "its lease is over, or is to end");
}

// ---- Frames -------------------------------------------------------------------------------------

FrameFault Barriers::OnFrame(const FrameHeader& header, std::span<const std::byte> payload) {
  switch (FrameKind{header.kind}) {
    case FrameKind::kHeartbeat:
      return OnHeartbeat(header, payload);
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

FrameFault Barriers::OnHeartbeat(const FrameHeader& header, std::span<const std::byte> payload) {
  if (payload.size() != sizeof(HeartbeatBody)) return Refuse(Refusal::kMalformed);
  const WorkerId from{header.source_worker};
  if (Node* node = nodes_.Find(from)) node->lease.OnRenewed(NowNs());
  frames_.Send(from, HeaderOf(FrameKind::kLease), payload);
  return FrameFault::kNone;
}

FrameFault Barriers::OnBegin(const FrameHeader& header, std::span<const std::byte> payload) {
  const std::optional<BeginBody> body = BodyFrom<BeginBody>(payload);
  if (!body.has_value()) return Refuse(Refusal::kMalformed);
  RunningEpoch* job = Lookup(header);
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

FrameFault Barriers::OnArrive(const FrameHeader& header, std::span<const std::byte> payload) {
  const std::optional<ArriveView> arrive = ArriveView::Decode(payload);
  if (!arrive.has_value()) return Refuse(Refusal::kMalformed);
  RunningEpoch* job = Lookup(header);
  if (job == nullptr) return FrameFault::kNone;
  Barrier& barrier = job->barrier;
  const WorkerId from{header.source_worker};
  switch (barrier.OnArrive(from, *arrive)) {
    case BarrierVerdict::kRelease:
      OnSuperstepOver(header, *job);
      for (std::size_t i = 0; i < barrier.hosts(); ++i)
        if (barrier.takes_part(i) && !barrier.over()) SendRelease(header, *job, i);
      released_ += 1;
      if (const SuperstepSums* sums = barrier.sums()) Record(JobId{header.job}, *sums, *job);
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

void Barriers::OnSuperstepOver(const FrameHeader& arrive, RunningEpoch& job) {
  const std::uint64_t passed = job.barrier.current() == 1 ? 0 : arrive.superstep + 1;
  job.superstep = std::max(job.superstep, Superstep{Value(job.first_superstep) + passed});
  if (!job.barrier.may_checkpoint() || !events_.superstep_over) return;
  const ReleaseDirective directive =
      events_.superstep_over(JobId{arrive.job}, job.epoch, job.superstep);
  if (directive.checkpoint != 0) job.barrier.Direct(directive);
}

// A coordinator that was here before may have released this barrier, and counted the superstep.
void Barriers::Record(JobId id, const SuperstepSums& sums, RunningEpoch& job) {
  const std::uint64_t before = job.supersteps_before + sums.superstep;
  if (std::exchange(job.adopted, false)) job.stats->SkipTo(before);
  if (job.stats->supersteps() <= before) {
    job.stats->Record(sums);
  } else {
    job.stats->RecordRepeated(sums);
  }
  if (job.totals_wanted && events_.totals_grew) events_.totals_grew(id);
}

FrameFault Barriers::OnProgress(const FrameHeader& header, std::span<const std::byte> payload) {
  const std::optional<ProgressBody> progress = BodyFrom<ProgressBody>(payload);
  if (!progress.has_value()) return Refuse(Refusal::kMalformed);
  RunningEpoch* job = Lookup(header);
  if (job == nullptr) return FrameFault::kNone;
  job->stats->RecordProgress(*progress);
  job->adopted = false;  // It has told all of its epoch.
  job->superstep = Superstep{Value(job->first_superstep) + progress->superstep};
  if (job->totals_wanted && events_.totals_grew) events_.totals_grew(JobId{header.job});
  if (events_.progressed) events_.progressed(JobId{header.job}, job->epoch, job->superstep);
  return FrameFault::kNone;
}

void Barriers::SendBegin(JobId id, const RunningEpoch& job, WorkerId worker) {
  if (job.barrier.HostOf(worker) == job.barrier.hosts()) return;
  const BeginBody body{.nprocs = job.barrier.processes(), .reserved = 0};
  FrameHeader header = HeaderOf(FrameKind::kBegin);
  header.job = Value(id);
  header.epoch = Value(job.epoch);
  frames_.Send(worker, header, BytesOf(body));
}

// A worker that is not connected repeats its Arrive when it is.
void Barriers::SendRelease(const FrameHeader& arrive, const RunningEpoch& job, std::size_t host) {
  FrameHeader header = HeaderOf(FrameKind::kRelease);
  header.job = arrive.job;
  header.epoch = arrive.epoch;
  header.superstep = arrive.superstep;
  header.group = arrive.group;
  frames_.Send(job.barrier.worker(host), header, job.barrier.release(host));
}

// ---- What is refused ----------------------------------------------------------------------------

FrameFault Barriers::Refuse(Refusal refusal) {
  refused_[static_cast<std::size_t>(refusal)] += 1;
  return FrameFault::kMalformed;
}

RunningEpoch* Barriers::Lookup(const FrameHeader& header) {
  const auto found = jobs_.find(JobId{header.job});
  RunningEpoch* running =
      found == jobs_.end() || !found->second.live || !found->second.live->running
          ? nullptr
          : &*found->second.live->running;
  if (running == nullptr || running->broken || GroupId{header.group} != kRootGroup) {
    Refuse(Refusal::kUnknownJob);
    return nullptr;
  }
  if (Epoch{header.epoch} != running->epoch) {
    Refuse(Refusal::kOldEpoch);
    return nullptr;
  }
  return running;
}

void Barriers::Break(const FrameHeader& header, RunningEpoch& job) {
  Refuse(Refusal::kContradiction);
  job.broken = true;
  const std::string reason =
      absl::StrCat("worker=", header.source_worker, ": ", job.barrier.refusal());
  timers_.Post([this, reason, id = JobId{header.job}, epoch = job.epoch] {
    events_.job_broken(id, epoch, reason);
  });
}

std::uint64_t Barriers::refused(Refusal refusal) const {
  return refused_[static_cast<std::size_t>(refusal)];
}

}  // namespace bspnow::coordinator
