#include "worker/exchange/data_plane.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "net/frame_body.h"
#include "worker/exchange/doorbell_ends.h"
#include "worker/exchange/frame_class.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kLookMs = 250;

void Note(const std::string& fact) { spdlog::info("{}", fact); }

}  // namespace

// ---- Life ---------------------------------------------------------------------------------------

DataPlane::DataPlane(Key, EventLoop& loop, const DataPlaneSettings& settings,
                     DataPlaneEvents events)
    : loop_(loop),
      settings_(settings),
      events_(std::move(events)),
      socket_{.congestion = settings.congestion},
      resolver_(loop),
      peers_(loop, resolver_, {stream_key_, socket_, settings.unreachable_ms, settings.integrity},
             {.delivered =
                  [this](JobId job, GroupId group, std::uint64_t token) {
                    if (JobGroups* const hosted = Find(job)) hosted->OnDelivered(group, token);
                  },
              .job_broken =
                  [this](JobId job, const std::string& reason) {
                    JobGroups* const hosted = Find(job);
                    if (hosted != nullptr)
                      hosted->root().Break(ExchangeFault::kEnvironment, reason);
                  },
              .note = Note},
             [this](WorkerId peer, const std::string& reason) {
               if (events_.peer_failed) events_.peer_failed(peer, reason);
             }),
      receiving_(loop, socket_, *this, Note) {
  loop_.AddPoller(*this);
}

DataPlane::~DataPlane() {
  *alive_ = false;
  loop_.CancelTimer(look_timer_);
  loop_.RemovePoller(*this);
  while (!jobs_.empty()) RemoveJob(jobs_.begin()->first, jobs_.begin()->second->plan().epoch);
}

absl::StatusOr<std::unique_ptr<DataPlane>> DataPlane::Create(EventLoop& loop,
                                                             const DataPlaneSettings& settings,
                                                             DataPlaneEvents events) {
  auto plane = std::make_unique<DataPlane>(Key{}, loop, settings, std::move(events));
  if (absl::Status s = plane->Listen(settings.listen); !s.ok()) return s;
  return plane;
}

absl::Status DataPlane::Listen(const std::string& address) {
  const absl::StatusOr<HostPort> host_port = ParseHostPort(address);
  if (!host_port.ok()) return host_port.status();
  const absl::StatusOr<SocketAddress> where = Resolve(*host_port);
  if (!where.ok()) return where.status();
  if (absl::Status s = receiving_.Listen(*where); !s.ok()) return s;
  data_address_ = receiving_.address().ToString();
  return absl::OkStatus();
}

void DataPlane::JoinCoordinator(const CoordinatorPlan& plan) {
  if (coordinator_) coordinator_reconnects_ += coordinator_->reconnects();
  coordinator_.reset();
  if (plan.self != self_) {
    early_begins_.Clear();
    probes_.clear();
    for (JobGroups* job : spread_)
      job->root().Break(ExchangeFault::kEnvironment, "its worker has registered anew");
  }
  self_ = plan.self;
  lease_ns_ = plan.lease_ms * kNsPerMs;
  SetKey(plan.stream_key);
  if (stream_key_.empty())
    spdlog::error("event=no_stream_key coordinator={}", plan.barrier_address);
  peers_.SetSelf(self_);
  receiving_.SetSelf(self_, stream_key_);
  CoordinatorStreamOwner& owner = *this;  // The base is private.
  coordinator_ = std::make_unique<CoordinatorStream>(
      loop_, resolver_,
      CoordinatorStreamPlan{.self = self_,
                            .incarnation = settings_.incarnation,
                            .address = plan.barrier_address,
                            .heartbeat_ms = plan.heartbeat_ms,
                            .term = plan.term,
                            .key = stream_key_,
                            .proof_key = plan.barrier_key,
                            .socket = socket_},
      owner);
}

// Who has the key before this one, and nothing else, keeps no connection that he made with it.
void DataPlane::SetKey(const StreamKey& key) {
  const StreamKey before = std::exchange(stream_key_, key);
  if (before.empty() || before == key) return;
  const char* why = "the cluster has a new key";
  if (key.encrypts() != before.encrypts())
    why = key.encrypts() ? "streams are encrypted from now on" : "streams are in clear from now on";
  for (JobGroups* job : spread_)
    if (job->lanes() != nullptr) job->lanes()->GiveUp(why);
  peers_.ConnectAnew(why);
}

void DataPlane::RenewLease(std::uint64_t every_ms) {
  if (coordinator_) coordinator_->RenewLease(every_ms);
}

void DataPlane::Probe(const PeerAddress& peer, StreamProbe::Done done) {
  const auto finished = [this, worker = peer.worker,
                         done = std::move(done)](const std::string& failure) {
    probes_.erase(worker);
    done(failure);
  };
  const absl::StatusOr<HostPort> address = ParseHostPort(peer.data_address);
  if (!address.ok())
    return loop_.Post([finished, why = std::string(address.status().message())] { finished(why); });
  probes_[peer.worker] = std::make_unique<StreamProbe>(loop_, resolver_,
                                                       StreamProbeOptions{.key = stream_key_,
                                                                          .self = self_,
                                                                          .target = peer.worker,
                                                                          .address = *address,
                                                                          .socket = socket_},
                                                       finished);
}

void DataPlane::AddJob(const JobPlan& plan) {
  if (const JobGroups* older = Find(plan.job)) RemoveJob(plan.job, older->plan().epoch);  // Fenced.
  BSP_CHECK(plan.hosts.size() == 1 || !plan.key.empty());
  JobExchangeOwner& owner = *this;  // The base is private.
  const JobNetwork network{
      peers_, receiving_, LaneNetwork{loop_, resolver_, stream_key_, socket_, settings_.integrity}};
  const auto added =
      jobs_.emplace(plan.job, std::make_unique<JobGroups>(plan, self_, network, owner));
  JobGroups* const job = added.first->second.get();
  if (look_timer_ == kNoTimer) LookAfterJobs();
  if (job->root().alone()) return;
  job->root().OnBegin(early_begins_.Take(plan.job, plan.epoch));
  spread_.push_back(job);
  loop_.OnReadable(plan.doorbell, [this, fd = plan.doorbell] {
    if (!AnswerDoorbell(fd)) loop_.Forget(fd);
    Poll();
  });
}

void DataPlane::RemoveJob(JobId job, Epoch epoch) {
  JobGroups* hosted = Find(job, epoch);
  if (hosted == nullptr) return;
  if (hosted->root().tells_progress()) SendProgress(hosted->root());
  if (!hosted->root().alone()) {
    hosted->root().OnRemoved();
    loop_.Forget(hosted->plan().doorbell);
    spread_.erase(std::find(spread_.begin(), spread_.end(), hosted));
  }
  receiving_.Unplace(job);
  jobs_.erase(job);
  ForgetLeft();
}

void DataPlane::SetPeerAddress(WorkerId peer, const std::string& data_address) {
  peers_.SetAddress(peer, data_address);
  if (!data_address.empty()) {
    left_.erase(peer);
    return;
  }
  left_.insert(peer);
  // Later: who has moved comes again at once.
  loop_.Post([this, alive = alive_] {
    if (*alive) ForgetLeft();
  });
}

// Not while a job counts on it: a coordinator that is restarted at once may not know that it had
// given the worker up, and both go on.
void DataPlane::ForgetLeft() {
  std::erase_if(left_, [this](WorkerId peer) {
    const bool counts = std::any_of(spread_.begin(), spread_.end(), [peer](JobGroups* job) {
      return job->root().HostOf(peer) < job->plan().hosts.size();
    });
    return !counts && receiving_.Forget(peer);
  });
}

void DataPlane::OrderImage(JobId job, Epoch epoch, const ImagePlan& order) {
  if (JobGroups* const hosted = Find(job, epoch)) hosted->root().OrderImage(order);
}

void DataPlane::WithdrawImage(JobId job, Epoch epoch, std::uint64_t checkpoint) {
  if (JobGroups* const hosted = Find(job, epoch)) hosted->root().WithdrawImage(checkpoint);
}

ImageWait DataPlane::WaitForImage(JobId job, Epoch epoch) const {
  JobGroups* const hosted = Find(job, epoch);
  return hosted == nullptr ? ImageWait{} : hosted->root().image_wait();
}

std::vector<std::uint32_t> DataPlane::HeardFrom(JobId job, Epoch epoch, GroupId group,
                                                std::uint64_t barrier) const {
  JobGroups* const hosted = Find(job, epoch);
  const JobExchange* const exchange = hosted == nullptr ? nullptr : hosted->Find(group);
  return exchange == nullptr ? std::vector<std::uint32_t>() : exchange->HeardFrom(barrier);
}

// ---- Looking for jobs ---------------------------------------------------------------------------

JobGroups* DataPlane::Find(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.get();
}

JobGroups* DataPlane::Find(JobId job, Epoch epoch) const {
  JobGroups* hosted = Find(job);
  return hosted != nullptr && hosted->plan().epoch == epoch ? hosted : nullptr;
}

JobGroups* DataPlane::Lookup(const FrameHeader& header) {
  JobGroups* job = Find(JobId{header.job});
  if (job == nullptr) {
    Refuse("unknown_job", FrameFault::kNone);
    return nullptr;
  }
  if (job->plan().epoch != Epoch{header.epoch}) {
    Refuse("old_epoch", FrameFault::kNone);
    return nullptr;
  }
  return job;
}

// ---- The bells ----------------------------------------------------------------------------------

bool DataPlane::Poll() {
  bool worked = false;
  for (JobGroups* job : spread_) worked |= job->Poll();
  return worked;
}

bool DataPlane::PrepareToSleep() {
  bool work = false;
  for (JobGroups* job : spread_) work |= job->Sleep();
  return work;
}

void DataPlane::Awake() {
  for (JobGroups* job : spread_) job->Awake();
}

// ---- Frames -------------------------------------------------------------------------------------

std::span<std::byte> DataPlane::Place(WorkerId from, const FrameHeader& header,
                                      const BatchPiece& piece) {
  JobGroups* job = Find(JobId{header.job}, Epoch{header.epoch});
  JobExchange* group = job == nullptr ? nullptr : job->Find(GroupId{header.group});
  if (group == nullptr) return {};
  const std::uint32_t host = group->HostOf(from);
  if (host >= group->plan().hosts.size()) return {};
  return group->Place(host, header, piece);
}

FrameFault DataPlane::OnBatch(WorkerId from, const FrameHeader& header, const BatchPiece& piece,
                              std::span<const std::byte> data) {
  JobGroups* job = Lookup(header);
  if (job == nullptr) return FrameFault::kNone;
  JobExchange* group = job->Find(GroupId{header.group});
  JobExchange& exchange = group == nullptr ? job->root() : *group;
  const std::uint32_t host = exchange.HostOf(from);
  if (host >= exchange.plan().hosts.size()) return Refuse("stranger", FrameFault::kMalformed);
  if (group != nullptr) return exchange.OnBatch(host, header, piece, data);
  if (!IsGroupWord(piece)) return Refuse("unknown_group", FrameFault::kNone);
  // It is not open yet; or it was left here, and its last word is no news.
  if (static_cast<BatchContent>(piece.content) == BatchContent::kGroupHere)
    job->OnEarlyHere(from, GroupId{header.group});
  return FrameFault::kNone;
}

// Of a job on one node, to which nobody sends, there need not be one.
const StreamKey* DataPlane::KeyOf(JobId job, Epoch epoch) {
  JobGroups* const hosted = Find(job, epoch);
  return hosted == nullptr || hosted->root().alone() ? nullptr : &hosted->plan().key;
}

bool DataPlane::WantsLane(const LaneName& lane) {
  JobGroups* const hosted = Find(lane.job, lane.epoch);
  return hosted != nullptr && hosted->lanes() != nullptr &&
         hosted->lanes()->Wants(lane.from, lane.number);
}

void DataPlane::TakeLane(const LaneName& lane, UniqueFd socket) {
  Find(lane.job, lane.epoch)->lanes()->Take(lane.from, lane.number, std::move(socket));
}

FrameFault DataPlane::OnCoordinatorFrame(const FrameHeader& header,
                                         std::span<const std::byte> payload) {
  if (GroupId{header.group} != kRootGroup) return Refuse("unknown_group", FrameFault::kNone);
  if (FrameKind{header.kind} == FrameKind::kBegin) return OnBegin(header, payload);
  if (FrameKind{header.kind} != FrameKind::kRelease) return FrameFault::kMalformed;
  JobGroups* job = Lookup(header);
  if (job == nullptr || job->root().alone()) return FrameFault::kNone;
  // It was held up on its way; the arrivals are repeated when the lease is good again.
  if (lease_ns_ != 0 && NowNs() >= lease_until_ns_) {
    return Refuse("lease_expired", FrameFault::kNone);
  }
  return job->root().OnRelease(payload);
}

FrameFault DataPlane::OnBegin(const FrameHeader& header, std::span<const std::byte> payload) {
  const std::optional<BeginBody> body = BodyFrom<BeginBody>(payload);
  if (!body.has_value()) return FrameFault::kMalformed;
  if (Find(JobId{header.job}) == nullptr) {
    early_begins_.Keep(JobId{header.job}, Epoch{header.epoch}, body->nprocs);
    return FrameFault::kNone;
  }
  if (JobGroups* job = Lookup(header); job && !job->root().alone())
    job->root().OnBegin(body->nprocs);
  return FrameFault::kNone;
}

void DataPlane::OnCoordinatorConnected() {
  for (JobGroups* job : spread_) job->root().OnCoordinatorReconnected();
}

void DataPlane::OnLeaseRenewed(std::uint64_t sent_ns) {
  const bool expired = NowNs() >= lease_until_ns_;
  lease_until_ns_ = std::max(lease_until_ns_, sent_ns + lease_ns_);
  if (events_.lease_renewed) events_.lease_renewed(sent_ns);
  if (expired && lease_ns_ != 0) OnCoordinatorConnected();
}

void DataPlane::SendProgress(JobExchange& job) {
  const ProgressBody body = job.Progress();
  FrameHeader header = HeaderOf(FrameKind::kProgress);
  header.job = Value(job.plan().job);
  header.epoch = Value(job.plan().epoch);
  SendToCoordinator(header, BytesOf(body));
}

void DataPlane::SendToCoordinator(const FrameHeader& header, std::span<const std::byte> payload) {
  if (coordinator_) coordinator_->Send(header, payload);
}

void DataPlane::LookAfterJobs() {
  for (const auto& [id, job] : jobs_) {
    if (job->root().tells_progress()) SendProgress(job->root());
    job->LookAfterGroups();
    job->root().LookAfterLanes();
  }
  Poll();  // A program that closed or broke the doorbell does not ring it.
  look_timer_ = jobs_.empty() ? kNoTimer : loop_.AddTimer(kLookMs, [this] { LookAfterJobs(); });
}

// ---- What goes wrong ----------------------------------------------------------------------------

void DataPlane::ReportBroken(JobId job, Epoch epoch, ExchangeFault fault,
                             const std::string& reason) {
  loop_.Post([this, job, epoch, fault, reason, alive = alive_] {
    if (*alive) events_.broken(job, epoch, fault, reason);
  });
}

DataPlaneStatistics DataPlane::statistics() const {
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
    const char* const reason = FaultName(static_cast<FrameFault>(i));
    statistics.refused_frames[reason] += in.faults[i] + out.faults[i];
  }
  statistics.refused_frames["duplicate"] = in.duplicates;
  return statistics;
}

}  // namespace bspnow::worker
