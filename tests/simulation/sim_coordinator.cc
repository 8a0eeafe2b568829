#include "tests/simulation/sim_coordinator.h"

#include <string.h>

#include <algorithm>

#include <absl/strings/match.h>
#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "coordinator/core/jobs/job_spec.h"
#include "coordinator/core/jobs/placement.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kJournalNs = 20 * kMillisecond;
constexpr std::uint64_t kLogNs = 200 * kMicrosecond;
constexpr CheckpointLimits kLimits{
    .mtbf_ns = 10 * kSecond, .overhead_max = 0.5, .renewal_ns_min = 20 * kMillisecond};

SlotClaim ClaimOf(const JobRecord& record) {
  proto::JobSpec spec;
  spec.ParseFromString(record.spec);
  return RequestOf(spec).claim;
}

std::int32_t PriorityOf(const JobRecord& record) {
  proto::JobSpec spec;
  spec.ParseFromString(record.spec);
  return spec.priority();
}

}  // namespace

/// A worker's control stream, at this end.
class SimCoordinator::ControlStream final : public OrderSink {
 public:
  ControlStream(SimCoordinator& coordinator, Link link, SimWorkerPort& port)
      : coordinator_(coordinator), link_(std::move(link)), port_(port) {}

  void Send(const proto::Order& order) override {
    coordinator_.Watch(order);
    link_->Send(SimLink::kCalled,
                [link = link_, &port = port_, order] { port.OnOrder(link, order); });
  }
  void Acknowledge(std::uint64_t sequence) override {
    link_->Send(SimLink::kCalled,
                [link = link_, &port = port_, sequence] { port.OnAcknowledge(link, sequence); });
  }
  void Close(const absl::Status& reason) override {
    if (absl::StrContains(std::string(reason.message()), "lease expired"))
      coordinator_.oracle_.Count("leases lost");
    if (absl::IsNotFound(reason))
      link_->Send(SimLink::kCalled, [link = link_, &port = port_] { port.OnForgotten(link); });
    link_->Close(SimLink::kCalled);
  }

 private:
  SimCoordinator& coordinator_;
  const Link link_;
  SimWorkerPort& port_;
};

SimCoordinator::SimCoordinator(SimLoop& loop, SimOracle& oracle, SimJournal& journal,
                               IsLeft is_left)
    : loop_(loop),
      oracle_(oracle),
      journal_(journal),
      is_left_(std::move(is_left)),
      writer_(
          loop, actor_, [this] { return !superseded(); }, kJournalNs),
      log_writer_(
          loop, actor_, [this] { return !superseded(); }, kLogNs),
      stored_(journal.Load()),
      term_(stored_.term) {
  for (const JobRecord& record : stored_.jobs)
    if (HasEnded(record.phase)) oracle_.OnEndStored(record);
  cluster_ =
      std::make_unique<Cluster>(ClusterPorts{.timers = *this,
                                             .journal = *this,
                                             .logs = *this,
                                             .frames = *this,
                                             .has_content = [](const auto&) { return true; }},
                                ClusterSettings{.barrier_address = "simulated:1",
                                                .checkpoint_limits = kLimits,
                                                .checkpoint_copies = journal.copies},
                                stored_);
  for (const JobRecord& record : stored_.jobs)
    if (!HasEnded(record.phase)) WaitForEnd(record.id);
}

SimCoordinator::~SimCoordinator() = default;

void SimCoordinator::Die() {
  if (std::exchange(dead_, true)) return;
  CountFigures();
  writer_.Die();
  log_writer_.Die();
  CutConnections();
}

void SimCoordinator::CutConnections() {
  for (const Link& link : links_) dead_ ? link->Close(SimLink::kCalled) : link->Break();
  links_.clear();
}

void SimCoordinator::CountFigures() {
  const CheckpointFigures figures = cluster_->Figures().checkpoints;
  const auto count = [this](const char* what, std::uint64_t n) { oracle_.Count(what, n); };
  count("checkpoints given up", figures.ended.at("given_up"));
  count("checkpoints found damaged", figures.damaged);
  for (const std::uint64_t n : figures.recovery_ns->Look().counts) count("losses overcome", n);
}

void SimCoordinator::Turn(const std::function<void()>& event) {
  if (dead_) return;
  event();
  const Barriers& barriers = cluster_->barriers();
  for (const Refusal refusal : {Refusal::kContradiction, Refusal::kMalformed})
    if (barriers.refused(refusal) != 0) oracle_.Fail("a frame of a worker is refused");
  if (!superseded()) oracle_.CheckTable(cluster_->table());
}

// ---- Clients ------------------------------------------------------------------------------------

void SimCoordinator::Submit(const proto::JobSpec& spec, const std::string& key,
                            OnJob acknowledged) {
  proto::SubmitJobRequest request;
  *request.mutable_spec() = spec;
  request.set_submission_key(key);
  Turn([&] {
    cluster_->Submit(request, [this, acknowledged](const absl::StatusOr<JobId>& job) {
      if (absl::IsInvalidArgument(job.status())) oracle_.Fail(job.status().ToString());
      if (!job.ok()) return;
      WaitForEnd(*job);
      acknowledged(*job);
    });
  });
}

void SimCoordinator::WaitForEnd(JobId job) {
  if (!awaited_.insert(job).second) return;
  const JobRecord* record = cluster_->table().Find(job);
  if (record == nullptr || HasEnded(record->phase)) return;  // Its end was announced before.
  cluster_->Wait(job, [this, job](const absl::StatusOr<proto::Job>& ended) {
    if (ended.ok()) OnEnded(job);
  });
}

void SimCoordinator::OnEnded(JobId job) {
  if (superseded()) return;
  CheckNothingLeft(job);
  oracle_.OnEnded(*cluster_->table().Find(job));
}

void SimCoordinator::Cancel(JobId job) {
  Turn([&] { cluster_->Cancel(job).IgnoreError(); });
}

void SimCoordinator::Signal(JobId job, int signal) {
  Turn([&] { cluster_->OnSignal(job, signal); });
}

void SimCoordinator::Checkpoint(JobId job) {
  Turn([&] { cluster_->Checkpoint(job, [](const auto&) {}); });
}

void SimCoordinator::Suspend(JobId job) {
  Turn([&] {
    cluster_->Suspend(job, [this, job](const absl::StatusOr<proto::Job>& suspended) {
      if (!suspended.ok() || suspended->state() != proto::SUSPENDED) return;
      oracle_.Count("suspended");
      CheckNothingLeft(job);
    });
  });
}

void SimCoordinator::Resume(JobId job) {
  Turn([&] {
    if (cluster_->Resume(job).ok()) oracle_.Count("resumed by users");
  });
}

void SimCoordinator::SetDrained(const std::string& node, Drain drain) {
  Turn([&] { cluster_->SetDrained(node, drain, [](const auto&) {}); });
}

// ---- Workers ------------------------------------------------------------------------------------

absl::StatusOr<proto::RegisterReply> SimCoordinator::Register(
    const proto::RegisterRequest& request) {
  absl::StatusOr<proto::RegisterReply> reply;
  Turn([&] { reply = cluster_->Register(request); });
  if (absl::IsInvalidArgument(reply.status())) oracle_.Fail(reply.status().ToString());
  return reply;
}

void SimCoordinator::AttachWorker(const proto::WorkerEvent& first, const Link& control,
                                  SimWorkerPort& port) {
  if (first.term() != term_) oracle_.Count("refused old terms");
  const auto stream = std::make_shared<ControlStream>(*this, control, port);
  links_.insert(control);
  control->OnBroken(SimLink::kCalled, [this, id = WorkerId{first.worker()}, stream](const Link&) {
    if (!dead_) cluster_->OnStreamBroken(id, stream.get());
  });
  Turn([&] {
    const absl::Status attached = cluster_->AttachWorker(first, stream);
    if (!attached.ok()) stream->Close(attached);
  });
}

void SimCoordinator::OnEvent(WorkerId id, const Link& control, const proto::WorkerEvent& event) {
  Turn([&] {
    const absl::Status handled = cluster_->OnEvent(id, event);
    if (absl::IsInvalidArgument(handled)) oracle_.Fail(handled.ToString());
    if (!handled.ok()) control->Close(SimLink::kCalled);
  });
}

// ---- Frames -------------------------------------------------------------------------------------

void SimCoordinator::OnFrame(const Link& link, const SimFrameBytes& frame, SimWorkerPort& port) {
  if (FrameKind{frame.header.kind} == FrameKind::kHello) return OnHello(link, frame, port);
  const auto from = frames_.find(WorkerId{frame.header.source_worker});
  if (from == frames_.end() || from->second.link != link) return;
  Turn([&] { cluster_->barriers().OnFrame(frame.header, frame.payload); });
}

void SimCoordinator::OnHello(const Link& link, const SimFrameBytes& frame, SimWorkerPort& port) {
  // Who has lost the journal's lock gives no leases: its address is another's.
  if (superseded()) return link->Break();
  Barriers& barriers = cluster_->barriers();
  HelloBody hello;
  memcpy(&hello, frame.payload.data(), sizeof hello);
  if (hello.term != term_) oracle_.Count("refused old terms");
  if (barriers.OnHello(frame.header, frame.payload) != FrameFault::kNone)
    return link->Close(SimLink::kCalled);
  const WorkerId worker{frame.header.source_worker};
  Close(worker, "the worker has connected anew");
  frames_[worker] = {.link = link, .port = &port};
  links_.insert(link);
  link->OnBroken(SimLink::kCalled, [this, worker](const Link& broken) {
    const auto found = frames_.find(worker);
    if (dead_ || found == frames_.end() || found->second.link != broken) return;
    frames_.erase(found);
    cluster_->barriers().OnDisconnected(worker);
  });
  Turn([&] { barriers.OnConnected(worker); });
}

void SimCoordinator::Send(WorkerId worker, const FrameHeader& header,
                          std::span<const std::byte> payload) {
  const auto found = frames_.find(worker);
  if (found == frames_.end()) return;
  if (FrameKind{header.kind} == FrameKind::kRelease) WatchRelease(worker, header, payload);
  found->second.link->Send(
      SimLink::kCalled,
      [end = found->second,
       frame = SimFrameBytes{.header = header, .payload = {payload.begin(), payload.end()}}] {
        end.port->OnFrame(end.link, frame);
      });
}

void SimCoordinator::Close(WorkerId worker, const char*) {
  const auto found = frames_.find(worker);
  if (found == frames_.end()) return;
  const Link link = found->second.link;
  frames_.erase(found);
  link->Close(SimLink::kCalled);
  cluster_->barriers().OnDisconnected(worker);
}

// ---- Time ---------------------------------------------------------------------------------------

Moment SimCoordinator::Now() const {
  return {.now_ns = loop_.now_ns(),
          .unix_ms = static_cast<std::int64_t>(loop_.now_ns() / kMillisecond)};
}

void SimCoordinator::Post(Event event) {
  loop_.On(actor_, 0, [this, event = std::move(event)] { Turn(event); });
}

CoreTimer SimCoordinator::AddTimer(std::uint64_t after_ms, Event event) {
  const CoreTimer timer{++last_timer_};
  timers_.insert(timer);
  loop_.On(actor_, after_ms * kMillisecond, [this, timer, event = std::move(event)] {
    if (timers_.erase(timer) != 0) Turn(event);
  });
  return timer;
}

// ---- The journal --------------------------------------------------------------------------------

void SimCoordinator::WriteJob(JobRecord record, Journal::Done done) {
  if (record.phase == JobPhase::kRunning && cluster_) CheckOrder(record);
  if (record.phase == JobPhase::kRecovering &&
      (record.losses.empty() || record.losses.back().resumed))
    oracle_.Count("moved");
  writer_.Queue(
      {.apply =
           [this, record = std::move(record)] {
             if (journal_.fails && loop_.Chance(10))
               return absl::ResourceExhaustedError("disk full");
             journal_.next_job = std::max(journal_.next_job, Value(record.id) + 1);
             journal_.jobs[record.id] = record;
             return absl::OkStatus();
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

void SimCoordinator::WriteCheckpoints(JobId job, std::string catalogue, Journal::Done done) {
  writer_.Queue(
      {.apply =
           [this, job, catalogue = std::move(catalogue)] {
             if (journal_.fails && !catalogue.empty() && loop_.Chance(10))
               return absl::ResourceExhaustedError("disk full");
             WatchCatalogue(job, catalogue);
             if (catalogue.empty()) {
               journal_.checkpoints.erase(job);
             } else {
               journal_.checkpoints[job] = catalogue;
             }
             return absl::OkStatus();
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

void SimCoordinator::WriteDrained(std::string node, Journal::Done done) {
  writer_.Queue(
      {.apply =
           [this, node = std::move(node)] {
             journal_.drained.insert(node);
             return absl::OkStatus();
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

void SimCoordinator::WriteUndrained(std::string node, Journal::Done done) {
  writer_.Queue(
      {.apply =
           [this, node = std::move(node)] {
             journal_.drained.erase(node);
             return absl::OkStatus();
           },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

void SimCoordinator::WriteParameters(std::uint32_t, std::string, Journal::Done) {
  oracle_.Fail("nobody measures this cluster");
}

// ---- The logs -----------------------------------------------------------------------------------

void SimCoordinator::Append(JobId job, LogRecord record, OutputLogs::Done done) {
  if (record.origin == LogOrigin::kLauncher) {
    if (absl::StrContains(record.text, "waits for a node")) oracle_.Count("waits for holders");
    return Post([done] { done(absl::OkStatus()); });
  }
  log_writer_.Queue(
      {.apply = [this, job, record = std::move(record)] { return AppendTo(job, record); },
       .done = [this, done](const absl::Status& written) { Turn([&] { done(written); }); }});
}

absl::Status SimCoordinator::AppendTo(JobId job, const LogRecord& record) {
  std::string& text = journal_.logs[job].texts[StreamOf(record)];
  if (record.offset > text.size()) {
    oracle_.Count("gaps in output");
    return absl::FailedPreconditionError("a gap in its output");
  }
  const std::size_t known = std::min(text.size() - record.offset, record.text.size());
  if (known != 0) oracle_.Count("repeated output");
  if (text.compare(record.offset, known, record.text, 0, known) != 0)
    oracle_.Fail("output is repeated otherwise");
  text.append(record.text, known);
  return absl::OkStatus();
}

void SimCoordinator::Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) {
  const auto cut = std::make_shared<absl::StatusOr<LogCut>>();
  log_writer_.Queue(
      {.apply =
           [this, job, positions, cut] {
             *cut = CutLog(job, positions);
             return cut->status();
           },
       .done = [this, done, cut](const absl::Status&) { Turn([&] { done(*cut); }); }});
}

absl::StatusOr<LogCut> SimCoordinator::CutLog(JobId job,
                                              const std::vector<LogPosition>& positions) {
  LogCut cut;
  SimLog& log = journal_.logs[job];
  StreamEnds keep;
  for (const LogPosition& at : positions) keep[{at.pid, LogOrigin::kStdout}] = at.stdout_bytes;
  for (const auto& [stream, end] : keep) {
    const std::size_t has = log.texts[stream].size();
    if (end != kWholeStream && end > has) cut.missing_bytes += end - has;
  }
  for (auto& [stream, text] : log.texts) {
    const std::uint64_t end = keep.contains(stream) ? keep[stream] : 0;
    if (end >= text.size()) continue;
    cut.dropped_bytes += text.size() - end;
    text.resize(end);
    log.synced[stream] = std::min<std::uint64_t>(log.synced[stream], end);
  }
  if (cut.missing_bytes != 0) oracle_.Fail("the log has less than the checkpoint says");
  if (cut.dropped_bytes != 0) oracle_.Count("logs cut back");
  return cut;
}

void SimCoordinator::Sync(JobId job, OutputLogs::Done done) {
  log_writer_.Queue(
      {.apply =
           [this, job] {
             if (loop_.Chance(2)) {
               oracle_.Count("failed syncs of logs");
               return absl::DataLossError("input/output error");
             }
             SimLog& log = journal_.logs[job];
             for (const auto& [stream, text] : log.texts) log.synced[stream] = text.size();
             return absl::OkStatus();
           },
       .done = [this, done](const absl::Status& synced) { Turn([&] { done(synced); }); }});
}

// ---- What must hold -----------------------------------------------------------------------------

void SimCoordinator::CheckNothingLeft(JobId job) const {
  std::vector<WorkerId> workers;
  for (const JobTable::NodeView& view : cluster_->table().nodes())
    workers.push_back(view.node->worker);
  if (is_left_(job, workers))
    oracle_.Fail("job " + std::to_string(Value(job)) + " has left its nodes, but is still there");
}

// First come, first served: a job that was placed has taken nothing from one before it that waits.
void SimCoordinator::CheckOrder(const JobRecord& placed) const {
  if (placed.epoch != Epoch{1} || placed.cancelled || !placed.losses.empty()) return;
  const JobTable& table = cluster_->table();
  const std::vector<JobTable::NodeView> views = table.nodes();
  std::vector<FreeNode> free;
  for (const JobTable::NodeView& view : views) {
    if (view.node->drained) continue;
    std::uint32_t slots = view.node->slots - view.slots_used;
    for (const NodeShare& share : placed.shares)
      if (share.worker == view.node->worker) slots += share.slots;
    free.push_back({.node = view.node, .slots = slots, .memory_bytes = 0});
  }
  const JobRecord* first = nullptr;
  for (const JobRecord* record : table.records()) {
    // What leaves its nodes holds their slots until it has left all of them.
    if (record->phase == JobPhase::kRecovering || record->phase == JobPhase::kSuspended ||
        record->phase == JobPhase::kEnding)
      return;
    // Without a reason: it is not durable yet. Or the journal did not take its start just now.
    if (record->phase != JobPhase::kWaiting || record->reason.empty() ||
        record->reason.starts_with("its start could not be stored"))
      continue;
    if (first == nullptr || PriorityOf(*record) > PriorityOf(*first)) first = record;
  }
  if (first == nullptr) return;
  const std::int32_t priority = PriorityOf(placed);
  const std::int32_t of_first = PriorityOf(*first);
  if (of_first < priority || (of_first == priority && placed.id < first->id)) return;
  const SlotClaim claim = ClaimOf(*first);
  if (Place(claim, claim.nprocs, free).has_value())
    oracle_.Fail("job " + std::to_string(Value(placed.id)) + " is placed where job " +
                 std::to_string(Value(first->id)) + ", which comes first, would fit");
}

// The orders that leave this coordinator, as long as it rules.
void SimCoordinator::Watch(const proto::Order& order) {
  if (oracle_.traces())
    oracle_.Trace("term " + std::to_string(term_) + " order " + order.ShortDebugString());
  if (order.has_copy_checkpoint()) oracle_.Count("copies");
  if (order.take_checkpoint().base() != 0) oracle_.Count("incremental ones");
  if (!order.has_start()) return;
  const proto::StartJob& start = order.start();
  const JobId job{start.job()};
  const Epoch epoch{start.epoch()};
  if (!started_.emplace(job, epoch).second) return;
  if (!superseded() || epoch > oracle_.EpochOf(job))
    oracle_.OnStartOrdered(job, epoch, start.spec());
  if (start.has_resume()) {
    oracle_.Count("recoveries");
  } else if (epoch != Epoch{1}) {
    oracle_.Count("restarts from the start");
  }
}

void SimCoordinator::WatchRelease(WorkerId worker, const FrameHeader& header,
                                  std::span<const std::byte> payload) {
  ReleaseBody body;
  memcpy(&body, payload.data(), sizeof body);
  const JobId job{header.job};
  const Epoch epoch{header.epoch};
  const std::pair<Epoch, std::uint64_t> barrier{epoch, body.barrier};
  auto& newest = released_[{worker, job}];
  if (newest == barrier) oracle_.Count("repeated releases");
  newest = std::max(newest, barrier);
  if (!started_.contains({job, epoch})) oracle_.Count("barriers of adopted jobs");
  if (body.checkpoint == 0) return;
  if (body.base != 0) oracle_.Count("incremental ones");
  const auto shown = cluster_->Show(job);
  if (shown.ok() && shown->checkpoints().committed() != 0 &&
      shown->checkpoints().copies() < 1 + journal_.copies)
    oracle_.Count("lost copies renewed");
}

// A commit is one once it is on the disk, and so must be the output before it.
void SimCoordinator::WatchCatalogue(JobId job, const std::string& catalogue) {
  const auto newest = [](const std::string& text) {
    const auto decoded = DecodeCatalogue(text);
    return decoded->checkpoints.empty() ? bspnow::Checkpoint{} : decoded->checkpoints.back();
  };
  const auto found = journal_.checkpoints.find(job);
  const bspnow::Checkpoint before =
      found == journal_.checkpoints.end() ? bspnow::Checkpoint{} : newest(found->second);
  if (catalogue.empty()) return;
  const bspnow::Checkpoint now = newest(catalogue);
  if (now.number < before.number) {
    oracle_.Count("catalogues cut back");
    oracle_.OnWentBack(job, now.number);
  }
  if (now.number <= before.number) return;
  for (const CheckpointPart& part : now.parts)
    for (const SavedImage& image : part.images)
      if (image.output_bytes > journal_.logs[job].synced[{Value(image.pid), LogOrigin::kStdout}])
        oracle_.Fail("a checkpoint is committed before the output ahead of it is durable");
  oracle_.OnCommitted(job, now);
}

}  // namespace bspnow
