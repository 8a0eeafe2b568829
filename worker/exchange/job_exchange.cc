#include "worker/exchange/job_exchange.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "worker/exchange/arrival_figures.h"
#include "worker/exchange/batch_table.h"
#include "worker/exchange/frame_class.h"

namespace bspnow::worker {
namespace {

using enum ExchangeFault;
using FrameClass = NodeExchange::FrameClass;

}  // namespace

JobExchange::JobExchange(const JobPlan& plan, PlannedGroup group, WorkerId self, PeerStreams& peers,
                         JobExchangeOwner& owner)
    : plan_(plan),
      owner_(owner),
      part_(std::move(group.part)),
      segment_(part_.valid() ? part_ : plan.segment->segment()),
      shape_(ShapeOf(plan, group.id, self)),
      streams_(plan, group.id, self, peers),
      exchange_(
          NodeExchangePlan{.self = shape_.self,
                           .hosts = static_cast<std::uint32_t>(shape_.hosts.size()),
                           .barriers_per_superstep = segment_.layout().check_full != 0 ? 2u : 1u,
                           .first_barrier = IsRoot() ? 0 : DirectBarrier::kFirst}),
      source_(segment_, shape_),
      inbox_(segment_, shape_),
      frames_(shape_.hosts.size()),
      owed_(shape_.hosts.size()) {
  if (plan_.direct) direct_.emplace(shape_.self, static_cast<std::uint32_t>(shape_.hosts.size()));
  TakeLanes();
  if (!streams_.fault().empty()) Break(kEnvironment, streams_.fault());
  if (!IsRoot()) {
    shape_.participants = plan_.participants;
    group_hosts_.resize(shape_.hosts.size());
  } else if (plan_.participants != 0) {
    OnResumed();
  }
}

void JobExchange::Break(ExchangeFault fault, const std::string& reason) {
  if (std::exchange(broken_, true)) return;
  owner_.ReportBroken(plan_.job, plan_.epoch, fault, reason);
}

// ---- The bell -----------------------------------------------------------------------------------

// `barriers` first: who arrives has rung for everything else before.
JobExchange::BellWords JobExchange::ReadBell() const {
  const WorkerBell& bell = segment_.header().bell;
  BellWords words;
  words.barriers = bell.barriers.load(std::memory_order_seq_cst);
  words.answers = bell.answers.load(std::memory_order_acquire);
  words.handed = bell.handed.load(std::memory_order_acquire);
  words.begun = bell.begun.load(std::memory_order_relaxed);
  if (lanes_) words.broken_lanes = lanes_->barrier.state().broken.load(std::memory_order_relaxed);
  return words;
}

bool JobExchange::Poll() {
  if (broken_) return false;
  const BellWords now = ReadBell();
  if (now == seen_) return false;
  const BellWords before = std::exchange(seen_, now);
  CatchUp();
  if (now.begun != before.begun) OnBegun();
  if (now.answers != before.answers && !broken_) OnAnswers(now.answers);
  if (now.barriers != before.barriers && !broken_) {
    OnArrival(now.barriers);  // Sends what was handed over, too.
  } else if (now.handed != before.handed && !broken_) {
    SendHanded();
  }
  if (now.broken_lanes != before.broken_lanes && !broken_) LookAfterLanes();
  return true;
}

bool JobExchange::Sleep() {
  segment_.header().bell.sleeping.store(1, std::memory_order_seq_cst);
  return !broken_ && !(ReadBell() == seen_);
}

void JobExchange::Awake() { segment_.header().bell.sleeping.store(0, std::memory_order_relaxed); }

FrameHeader JobExchange::Header(FrameKind kind) const {
  FrameHeader header = HeaderOf(kind);
  header.job = Value(shape_.job);
  header.epoch = Value(shape_.epoch);
  header.group = Value(shape_.group);
  header.superstep = exchange_.superstep();
  return header;
}

// ---- Arrival ------------------------------------------------------------------------------------

void JobExchange::OnArrival(std::uint32_t barriers) {
  if (IsOld(barriers)) return;
  const std::uint32_t here = shape_.TakingPart(shape_.self);
  const BarrierPhase& phase = this->phase(exchange_.barrier());
  const BarrierCounts counts{.data = phase.with_data.load(std::memory_order_relaxed),
                             .gets = phase.with_gets.load(std::memory_order_relaxed),
                             .votes = phase.with_votes.load(std::memory_order_relaxed),
                             .ending = phase.ending.load(std::memory_order_relaxed),
                             .groups = phase.with_groups.load(std::memory_order_relaxed),
                             .by_count = phase.by_count.load(std::memory_order_relaxed)};
  if (exchange_.waiting() || barriers != static_cast<std::uint32_t>(exchange_.barrier() + 1) ||
      std::max({counts.data, counts.gets, counts.votes, counts.ending, counts.groups,
                counts.by_count}) > here ||
      here == 0) {
    return Break(kProgram, absl::StrCat("a process has damaged the communication memory: barrier ",
                                        barriers, " where ", exchange_.barrier() + 1, " was due"));
  }
  std::fill(owed_.begin(), owed_.end(), 0);
  if (exchange_.ends_superstep()) {
    if (!Collect(counts)) return;
    std::copy(source_.counted().begin(), source_.counted().end(), owed_.begin());
  }
  const NodeExchange::Actions actions = exchange_.OnLocalArrival(counts, owed_);
  if (Directly()) return ArriveDirectly(counts);
  EncodeArrival();
  Perform(actions);
  SendFrames();
}

bool JobExchange::Collect(const BarrierCounts& counts) {
  const absl::Status status = source_.CollectBatch(exchange_.superstep(), counts, frames_);
  if (!status.ok()) Break(kProgram, std::string(status.message()));
  return status.ok();
}

std::span<const std::byte> JobExchange::EndingHere(const BarrierCounts& counts) {
  const std::uint32_t here = shape_.TakingPart(shape_.self);
  ending_.clear();
  if (counts.ending != 0 && counts.ending != here) {
    ending_.resize((shape_.participants + 7) / 8);
    MarkEnding(segment_, std::span(shape_.here()).first(here), ending_);
  }
  return ending_;
}

// ---- Out ----------------------------------------------------------------------------------------

// In latin-square order, beginning with the next node, so that not all send to one at first.
void JobExchange::SendFrames() {
  const auto hosts = static_cast<std::uint32_t>(frames_.size());
  for (std::uint32_t k = 1; k < hosts; ++k) {
    const std::uint32_t host = (shape_.self + k) % hosts;
    if (frames_[host].empty()) continue;
    sent_ = std::max(sent_, Value(frames_[host].back().superstep) + 1);
    if (IsRoot()) {
      streams_.Send(host, frames_[host]);
    } else {
      SendInGroup(host, frames_[host]);
    }
    frames_[host].clear();
  }
}

void JobExchange::SendHanded() {
  const absl::Status status = source_.CollectHanded(exchange_.superstep(), frames_);
  if (!status.ok()) return Break(kProgram, std::string(status.message()));
  SendFrames();
}

void JobExchange::OnDelivered(std::uint64_t token) {
  CatchUp();
  if (token != kGroupLeftToken) source_.OnDelivered(token, exchange_.superstep());
}

void JobExchange::OnAnswers(std::uint32_t answers) {
  const std::uint32_t due = static_cast<std::uint32_t>(exchange_.superstep()) - answers;
  // Nobody asked here, and the processes have passed barriers by lanes since.
  if (lanes_ && due != 0 && due < kLongAgo) return;
  if (due != 0) {
    return Break(kProgram,
                 absl::StrCat("a process has damaged the communication memory: answers of ",
                              answers, " where ", exchange_.superstep(), " are due"));
  }
  Perform(exchange_.OnLocalAnswers(exchange_.superstep() - 1));
}

void JobExchange::SendAnswers() {
  const std::uint64_t superstep = exchange_.answers_superstep();
  for (std::uint32_t host = 0; host < frames_.size(); ++host) {
    if (!exchange_.Asked(host)) continue;
    requests_.clear();
    inbox_.FindRequests(superstep, host, requests_);
    const absl::Status status = source_.CollectAnswers(superstep, host, requests_, frames_);
    if (!status.ok()) return Break(kProgram, std::string(status.message()));
  }
  SendFrames();
}

// ---- In -----------------------------------------------------------------------------------------

std::span<std::byte> JobExchange::Place(std::uint32_t host, const FrameHeader& header,
                                        const BatchPiece& piece) {
  const std::size_t bytes = header.payload_bytes - sizeof piece;
  CatchUp();
  if (broken_ ||
      exchange_.Check(header.superstep, ClassOfPiece(piece)) != NodeExchange::Verdict::kTake ||
      !inbox_.Check(host, piece, bytes).ok()) {
    return {};
  }
  return inbox_.Place(header.superstep, piece, bytes);
}

FrameFault JobExchange::OnBatch(std::uint32_t host, const FrameHeader& header,
                                const BatchPiece& piece, std::span<const std::byte> data) {
  if (broken_) return FrameFault::kNone;
  if (IsGroupWord(piece)) return OnGroupWord(host, piece, data);
  CatchUp();
  if (static_cast<BatchContent>(piece.content) == BatchContent::kLaneFrame)
    return OnLaneFrame(host, piece, data);
  const std::optional<FrameClass> frame_class = ClassOfFrame(inbox_, host, piece, data);
  if (!frame_class) return FrameFault::kMalformed;
  const NodeExchange::Verdict verdict = exchange_.Check(header.superstep, *frame_class);
  if (verdict == NodeExchange::Verdict::kStale) return FrameFault::kNone;
  if (verdict == NodeExchange::Verdict::kImpossible && lanes_) {  // Processes count barriers, too.
    Break(kProgram, "a process of another node has damaged the communication memory: barriers");
    return FrameFault::kNone;
  }
  if (verdict == NodeExchange::Verdict::kImpossible) return FrameFault::kMalformed;
  for (BatchTableReader pieces(piece, data); pieces.Next();) {
    if (static_cast<BatchContent>(pieces.piece().content) == BatchContent::kArrival) {
      if (!direct_ || !direct_->OnArrival(host, pieces.data(), shape_.TakingPart(host)))
        return FrameFault::kMalformed;
      continue;
    }
    const absl::Status status = inbox_.Take(header.superstep, pieces.piece(), pieces.data());
    if (absl::IsInvalidArgument(status)) return FrameFault::kMalformed;
    if (status.ok()) continue;
    Break(kProgram, std::string(status.message()));
    return FrameFault::kNone;
  }
  const bool take_over = LeavesToWorker(header.superstep, *frame_class);
  Perform(exchange_.OnFrame(host, header.superstep, *frame_class));
  if (take_over) TakeOver(header.superstep + 1);
  PassDirectly();
  return FrameFault::kNone;
}

// ---- Release ------------------------------------------------------------------------------------

void JobExchange::Perform(const NodeExchange::Actions& actions) {
  if (actions.arrive) SendArrive(exchange_.barrier());
  if (actions.arrive_before) SendArrive(exchange_.barrier() - 1);
  if (actions.prune) Prune();
  if (actions.release) Release();
  if (actions.take_answers) TakeAnswers();
  if (actions.send_answers) SendAnswers();
}

// Of the superstep before, which all have received. An empty superstep leaves nothing to prune.
void JobExchange::Prune() {
  const std::uint64_t below = exchange_.pruned();
  if (pruned_ >= sent_ || below == 0) return;
  streams_.Prune(Superstep{below - 1});
  pruned_ = below;
}

void JobExchange::Release() {
  const std::uint64_t index = exchange_.released_barriers() - 1;
  if (exchange_.released_ends_superstep()) {
    const std::uint64_t superstep = exchange_.released_superstep();
    source_.OnReleased(superstep);
    if (lanes_) RemoveLaneEntries(segment_, superstep & 1);
    inbox_.Publish(superstep);
  }
  const BarrierCounts& counts = exchange_.global_counts();
  BarrierPhase& phase = this->phase(index);
  phase.with_data.store(counts.data, std::memory_order_relaxed);
  phase.with_gets.store(counts.gets, std::memory_order_relaxed);
  phase.with_votes.store(counts.votes, std::memory_order_relaxed);
  phase.ending.store(counts.ending, std::memory_order_relaxed);
  phase.with_groups.store(counts.groups, std::memory_order_relaxed);
  phase.by_count.store(counts.by_count, std::memory_order_relaxed);
  if (counts.groups == 0 && exchange_.released_ends_superstep()) image_chances_ += 1;
  PassOrder(phase);
  TurnLanesOn(index);
  ReleaseBarrier(segment_.header().barrier, static_cast<std::uint32_t>(index));
  WakeDriver();
}

// Nobody reads the order before `save` is set, and all have read it before the next one comes.
void JobExchange::PassOrder(BarrierPhase& phase) {
  const bool save = release_.checkpoint != 0 && exchange_.released_ends_superstep();
  phase.save.store(save ? 1 : 0, std::memory_order_relaxed);
  if (!save) return;
  plan_.segment->OrderImage(
      {.checkpoint = release_.checkpoint,
       .base = release_.base,
       .after = release_.hold != 0 ? ImagePlan::After::kHold : ImagePlan::After::kGoOn});
}

// They came after the release, and those who have them may go on by lanes.
void JobExchange::TakeAnswers() {
  HoldToGiveBack();
  for (std::uint32_t host = 0; host < shape_.hosts.size(); ++host) {
    if (exchange_.TakeAnswered(host)) inbox_.PublishAnswers(exchange_.superstep() - 1, host);
  }
}

}  // namespace bspnow::worker
