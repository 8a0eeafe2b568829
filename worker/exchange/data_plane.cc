#include "worker/exchange/data_plane.h"

#include <absl/strings/str_cat.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "net/receiving_streams.h"
#include "worker/exchange/arrival_figures.h"
#include "worker/exchange/coordinator_stream.h"
#include "worker/exchange/early_begins.h"
#include "worker/exchange/job_exchange.h"
#include "worker/exchange/job_streams.h"
#include "worker/exchange/peer_streams.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kLookMs = 250;
constexpr std::uint64_t kNsPerMs = 1'000'000;

}  // namespace

class DataPlane::Impl final : private BatchSink, private Poller {
 public:
  Impl(EventLoop& loop, const DataPlaneSettings& settings, DataPlaneEvents events);
  ~Impl();

  absl::Status Listen(const std::string& address);
  void JoinCoordinator(const CoordinatorPlan& plan);
  void AddJob(const JobPlan& plan);
  void RemoveJob(JobId job, Epoch epoch);
  Superstep superstep(JobId job, Epoch epoch) const;
  DataPlaneStatistics statistics() const;
  const std::string& data_address() const { return data_address_; }

 private:
  struct HostedJob {
    HostedJob(const JobPlan& plan, WorkerId self, PeerStreams& peers, JobStreamsEvents events)
        : streams(plan, self, peers, std::move(events)),
          exchange(plan.segment->segment(), streams.Shape(), streams) {}

    JobStreams streams;
    JobExchange exchange;

    const JobPlan& plan() const { return streams.plan(); }
    Epoch epoch() const { return plan().epoch; }
    bool alone() const { return plan().hosts.size() == 1; }
  };

  std::span<std::byte> Place(WorkerId from, const FrameHeader& header,
                             const BatchPiece& piece) override;
  FrameFault OnBatch(WorkerId from, const FrameHeader& header, const BatchPiece& piece,
                     std::span<const std::byte> data) override;
  bool Poll() override;
  bool PrepareToSleep() override;
  void Awake() override;

  HostedJob* Find(JobId job) const;
  HostedJob* Find(JobId job, Epoch epoch) const;
  HostedJob* Lookup(const FrameHeader& header);
  FrameFault OnCoordinatorFrame(const FrameHeader& header, std::span<const std::byte> payload);
  FrameFault OnBegin(const FrameHeader& header, std::span<const std::byte> payload);
  void RepeatArrivals();
  void OnLeaseRenewed(std::uint64_t sent_ns);
  void Report(JobId job, Epoch epoch, ExchangeFault fault, const std::string& reason);
  void SendProgress(HostedJob& job);
  void LookAfterJobs();
  FrameFault Refuse(const char* reason, FrameFault fault) {
    refused_[reason] += 1;
    return fault;
  }
  void Note(const std::string& fact) const {
    if (events_.note) events_.note(fact);
  }

  EventLoop& loop_;
  DataPlaneSettings settings_;
  DataPlaneEvents events_;
  SocketOptions socket_;
  std::string data_address_;
  WorkerId self_{};
  PeerStreams peers_;
  ReceivingStreams receiving_;
  std::unique_ptr<CoordinatorStream> coordinator_;
  std::uint64_t lease_ns_ = 0;  ///< How long it holds; 0: there is none.
  std::uint64_t lease_until_ns_ = 0;
  std::uint64_t coordinator_reconnects_ = 0;  ///< Of earlier registrations.
  std::unordered_map<JobId, std::unique_ptr<HostedJob>> jobs_;
  std::vector<HostedJob*> spread_;  ///< Those of several nodes.
  EarlyBegins early_begins_;
  std::map<std::string, std::uint64_t> refused_;
  TimerId look_timer_ = kNoTimer;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

// ---- Life ---------------------------------------------------------------------------------------

DataPlane::Impl::Impl(EventLoop& loop, const DataPlaneSettings& settings, DataPlaneEvents events)
    : loop_(loop),
      settings_(settings),
      events_(std::move(events)),
      socket_{.congestion = settings.congestion},
      peers_(loop, {socket_, settings.incarnation, settings.unreachable_ms},
             SendingStreamEvents{.delivered =
                                     [this](JobId job, std::uint64_t token) {
                                       HostedJob* hosted = Find(job);
                                       if (hosted != nullptr) hosted->exchange.OnDelivered(token);
                                     },
                                 .job_broken =
                                     [this](JobId job, const std::string& reason) {
                                       HostedJob* hosted = Find(job);
                                       if (hosted == nullptr) return;
                                       hosted->exchange.Break(ExchangeFault::kOfSurroundings,
                                                              reason);
                                     },
                                 .note = [this](const std::string& fact) { Note(fact); }}),
      receiving_(loop, socket_, *this, [this](const std::string& fact) { Note(fact); }) {
  loop_.AddPoller(*this);
  LookAfterJobs();
}

DataPlane::Impl::~Impl() {
  *alive_ = false;
  loop_.CancelTimer(look_timer_);
  loop_.RemovePoller(*this);
  while (!jobs_.empty()) RemoveJob(jobs_.begin()->first, jobs_.begin()->second->epoch());
}

absl::Status DataPlane::Impl::Listen(const std::string& address) {
  const absl::StatusOr<HostPort> host_port = ParseHostPort(address);
  if (!host_port.ok()) return host_port.status();
  const absl::StatusOr<SocketAddress> where = Resolve(*host_port);
  if (!where.ok()) return where.status();
  if (absl::Status s = receiving_.Listen(*where); !s.ok()) return s;
  data_address_ = receiving_.address().ToString();
  return absl::OkStatus();
}

void DataPlane::Impl::JoinCoordinator(const CoordinatorPlan& plan) {
  if (coordinator_) coordinator_reconnects_ += coordinator_->reconnects();
  coordinator_.reset();
  if (plan.self != self_) {
    early_begins_.Clear();
    for (HostedJob* job : spread_)
      job->exchange.Break(ExchangeFault::kOfSurroundings, "its worker has registered anew");
  }
  self_ = plan.self;
  lease_ns_ = plan.lease_ms * kNsPerMs;
  peers_.SetSelf(self_);
  receiving_.SetSelf(self_);
  coordinator_ = std::make_unique<CoordinatorStream>(
      loop_,
      CoordinatorStreamPlan{.self = self_,
                            .incarnation = settings_.incarnation,
                            .address = plan.barrier_address,
                            .heartbeat_ms = plan.heartbeat_ms,
                            .term = plan.term,
                            .socket = socket_},
      CoordinatorStreamEvents{
          .connected = [this] { RepeatArrivals(); },
          .frame =
              [this](const FrameHeader& header, std::span<const std::byte> payload) {
                return OnCoordinatorFrame(header, payload);
              },
          .lease_renewed = [this](std::uint64_t sent_ns) { OnLeaseRenewed(sent_ns); },
          .note = [this](const std::string& fact) { Note(fact); }});
}

void DataPlane::Impl::AddJob(const JobPlan& plan) {
  if (const HostedJob* older = Find(plan.job)) RemoveJob(plan.job, older->epoch());  // Fenced.
  JobStreamsEvents events{
      .to_coordinator =
          [this](const FrameHeader& header, std::span<const std::byte> payload) {
            if (coordinator_) coordinator_->Send(header, payload);
          },
      .broken = [this, id = plan.job, epoch = plan.epoch](
                    ExchangeFault fault,
                    const std::string& reason) { Report(id, epoch, fault, reason); }};
  const auto added =
      jobs_.emplace(plan.job, std::make_unique<HostedJob>(plan, self_, peers_, std::move(events)));
  HostedJob* job = added.first->second.get();
  if (!job->streams.fault().empty())
    job->exchange.Break(ExchangeFault::kOfSurroundings, job->streams.fault());
  if (plan.participants != 0) job->exchange.OnResumed(plan.participants);
  if (job->alone()) return;
  job->exchange.OnBegin(early_begins_.Take(plan.job, plan.epoch));
  spread_.push_back(job);
  loop_.OnReadable(plan.doorbell, [this, fd = plan.doorbell] {
    std::uint64_t rings;
    [[maybe_unused]] const ssize_t n = read(fd, &rings, sizeof rings);
    Poll();
  });
}

void DataPlane::Impl::RemoveJob(JobId job, Epoch epoch) {
  HostedJob* hosted = Find(job, epoch);
  if (hosted == nullptr) return;
  if (hosted->alone()) {
    SendProgress(*hosted);
  } else {
    loop_.Forget(hosted->plan().doorbell);
    spread_.erase(std::find(spread_.begin(), spread_.end(), hosted));
  }
  receiving_.Unplace(job);
  jobs_.erase(job);
}

// ---- Looking for jobs ---------------------------------------------------------------------------

DataPlane::Impl::HostedJob* DataPlane::Impl::Find(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.get();
}

DataPlane::Impl::HostedJob* DataPlane::Impl::Find(JobId job, Epoch epoch) const {
  HostedJob* hosted = Find(job);
  return hosted != nullptr && hosted->epoch() == epoch ? hosted : nullptr;
}

DataPlane::Impl::HostedJob* DataPlane::Impl::Lookup(const FrameHeader& header) {
  HostedJob* job = Find(JobId{header.job});
  if (job == nullptr || GroupId{header.group} != kRootGroup) {
    Refuse("unknown_job", FrameFault::kNone);
    return nullptr;
  }
  if (job->epoch() != Epoch{header.epoch}) {
    Refuse("old_epoch", FrameFault::kNone);
    return nullptr;
  }
  return job;
}

Superstep DataPlane::Impl::superstep(JobId job, Epoch epoch) const {
  HostedJob* hosted = Find(job, epoch);
  if (hosted == nullptr) return Superstep{0};
  if (hosted->alone()) return Superstep{hosted->plan().segment->Progress().totals.supersteps};
  return Superstep{hosted->exchange.superstep()};
}

// ---- The bells ----------------------------------------------------------------------------------

bool DataPlane::Impl::Poll() {
  bool worked = false;
  for (HostedJob* job : spread_) worked |= job->exchange.Poll();
  return worked;
}

bool DataPlane::Impl::PrepareToSleep() {
  bool work = false;
  for (HostedJob* job : spread_) work |= job->exchange.Sleep();
  return work;
}

void DataPlane::Impl::Awake() {
  for (HostedJob* job : spread_) job->exchange.Awake();
}

// ---- Frames -------------------------------------------------------------------------------------

std::span<std::byte> DataPlane::Impl::Place(WorkerId from, const FrameHeader& header,
                                            const BatchPiece& piece) {
  HostedJob* job = Find(JobId{header.job}, Epoch{header.epoch});
  if (job == nullptr) return {};
  const std::uint32_t host = job->streams.HostOf(from);
  if (host >= job->plan().hosts.size()) return {};
  return job->exchange.Place(host, header, piece);
}

FrameFault DataPlane::Impl::OnBatch(WorkerId from, const FrameHeader& header,
                                    const BatchPiece& piece, std::span<const std::byte> data) {
  HostedJob* job = Lookup(header);
  if (job == nullptr) return FrameFault::kNone;
  const std::uint32_t host = job->streams.HostOf(from);
  if (host >= job->plan().hosts.size()) return Refuse("stranger", FrameFault::kMalformed);
  return job->exchange.OnBatch(host, header, piece, data);
}

FrameFault DataPlane::Impl::OnCoordinatorFrame(const FrameHeader& header,
                                               std::span<const std::byte> payload) {
  if (FrameKind{header.kind} == FrameKind::kBegin) return OnBegin(header, payload);
  if (FrameKind{header.kind} != FrameKind::kRelease) return FrameFault::kMalformed;
  HostedJob* job = Lookup(header);
  if (job == nullptr || job->alone()) return FrameFault::kNone;
  // It was held up on its way; the arrivals are repeated when the lease is good again.
  if (lease_ns_ != 0 && NowNs() >= lease_until_ns_) {
    return Refuse("lease_expired", FrameFault::kNone);
  }
  return job->exchange.OnRelease(payload);
}

FrameFault DataPlane::Impl::OnBegin(const FrameHeader& header, std::span<const std::byte> payload) {
  BeginBody body;
  if (payload.size() != sizeof body) return FrameFault::kMalformed;
  memcpy(&body, payload.data(), sizeof body);
  if (Find(JobId{header.job}) == nullptr) {
    early_begins_.Keep(JobId{header.job}, Epoch{header.epoch}, body.nprocs);
    return FrameFault::kNone;
  }
  if (HostedJob* job = Lookup(header); job && !job->alone()) job->exchange.OnBegin(body.nprocs);
  return FrameFault::kNone;
}

void DataPlane::Impl::RepeatArrivals() {
  for (HostedJob* job : spread_) job->exchange.OnCoordinatorReconnected();
}

void DataPlane::Impl::OnLeaseRenewed(std::uint64_t sent_ns) {
  const bool expired = NowNs() >= lease_until_ns_;
  lease_until_ns_ = std::max(lease_until_ns_, sent_ns + lease_ns_);
  if (events_.lease_renewed) events_.lease_renewed(sent_ns);
  if (expired && lease_ns_ != 0) RepeatArrivals();
}

void DataPlane::Impl::SendProgress(HostedJob& job) {
  const ProgressBody body = ProgressOf(job.plan().segment->Progress());
  FrameHeader header = HeaderOf(FrameKind::kProgress);
  header.job = Value(job.plan().job);
  header.epoch = Value(job.epoch());
  job.streams.SendToCoordinator(header, BytesOf(body));
}

void DataPlane::Impl::LookAfterJobs() {
  for (const auto& [id, job] : jobs_) {
    if (job->alone()) SendProgress(*job);
  }
  Poll();  // A program that closed the doorbell does not ring it.
  look_timer_ = loop_.AddTimer(kLookMs, [this] { LookAfterJobs(); });
}

// ---- What goes wrong ----------------------------------------------------------------------------

void DataPlane::Impl::Report(JobId job, Epoch epoch, ExchangeFault fault,
                             const std::string& reason) {
  loop_.Post([this, job, epoch, fault, reason, alive = alive_] {
    if (!*alive) return;
    const bool passing = fault == ExchangeFault::kOfSurroundings && events_.epoch_broken;
    const auto& report = passing ? events_.epoch_broken : events_.job_broken;
    if (report) report(job, epoch, reason);
  });
}

DataPlaneStatistics DataPlane::Impl::statistics() const {
  const SendingStreamCounts out = peers_.Counts();
  const ReceivingCounts& in = receiving_.counts();
  DataPlaneStatistics statistics{.frames_out = out.frames,
                                 .frames_in = in.frames,
                                 .bytes_out = out.bytes,
                                 .bytes_in = in.bytes,
                                 .resent_bytes = out.resent_bytes,
                                 .reconnects = out.connects + coordinator_reconnects_ +
                                               (coordinator_ ? coordinator_->reconnects() : 0),
                                 .refused_frames = refused_};
  for (std::size_t i = 1; i < kFrameFaults; ++i) {
    const std::uint64_t count = in.faults[i] + out.faults[i];
    if (count != 0) statistics.refused_frames[FaultName(static_cast<FrameFault>(i))] = count;
  }
  if (in.duplicates != 0) statistics.refused_frames["duplicate"] = in.duplicates;
  return statistics;
}

// ---- The door -----------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<DataPlane>> DataPlane::Create(EventLoop& loop,
                                                             const DataPlaneSettings& settings,
                                                             DataPlaneEvents events) {
  auto impl = std::make_unique<Impl>(loop, settings, std::move(events));
  if (absl::Status s = impl->Listen(settings.listen); !s.ok()) return s;
  return std::unique_ptr<DataPlane>(std::make_unique<DataPlane>(Key{}, std::move(impl)));
}

DataPlane::DataPlane(Key, std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DataPlane::~DataPlane() = default;

const std::string& DataPlane::data_address() const { return impl_->data_address(); }
void DataPlane::JoinCoordinator(const CoordinatorPlan& plan) { impl_->JoinCoordinator(plan); }
void DataPlane::AddJob(const JobPlan& plan) { impl_->AddJob(plan); }
void DataPlane::RemoveJob(JobId job, Epoch epoch) { impl_->RemoveJob(job, epoch); }
DataPlaneStatistics DataPlane::statistics() const { return impl_->statistics(); }

Superstep DataPlane::superstep(JobId job, Epoch epoch) const {
  return impl_->superstep(job, epoch);
}

}  // namespace bspnow
