#include "worker/exchange/job_groups.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace bspnow::worker {
namespace {

// Each process elsewhere waits in one group at a time for processes here.
constexpr std::size_t kEarlyWordsMax = kProcessesMax;

// The members of a group as the processes of a job.
JobPlan PlanOf(const OpenGroup& group, const JobPlan& job) {
  JobPlan plan{.job = job.job,
               .epoch = job.epoch,
               .hosts = {},
               .segment = job.segment,
               .doorbell = -1,
               .participants = group.layout.nprocs,
               .direct = true,
               .key = job.key};
  for (std::size_t k = 0; k < job.hosts.size(); ++k) {
    if (group.hosts[k].empty()) continue;
    plan.hosts.push_back(job.hosts[k]);
    plan.hosts.back().pids = group.hosts[k];
  }
  return plan;
}

}  // namespace

JobGroups::JobGroups(const JobPlan& plan, WorkerId self, const JobNetwork& network,
                     JobExchangeOwner& owner)
    : self_(self), peers_(network.peers), receiving_(network.receiving), owner_(owner) {
  if (JobLanes::Has(plan, network.lanes.key))
    lanes_ = std::make_unique<JobLanes>(plan, self, network.lanes);
  JobExchangeOwner& this_owner = *this;  // The base is private.
  root_ = std::make_unique<JobExchange>(plan, PlannedGroup{}, self, peers_, this_owner);
}

JobExchange* JobGroups::Find(GroupId group) {
  if (group == kRootGroup) return root_.get();
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : found->second.exchange.get();
}

void JobGroups::SendToCoordinator(const FrameHeader& header, std::span<const std::byte> payload) {
  owner_.SendToCoordinator(header, payload);
}

void JobGroups::ReportBroken(JobId job, Epoch epoch, ExchangeFault fault,
                             const std::string& reason) {
  if (std::exchange(broken_, true)) return;
  owner_.ReportBroken(job, epoch, fault, reason);
  if (root_) root_->Break(fault, reason);
  for (auto& [id, group] : groups_) group.exchange->Break(fault, reason);
}

// ---- The bells ----------------------------------------------------------------------------------

// The table first: who opens a group rings for it before anything in it.
bool JobGroups::Poll() {
  bool worked = false;
  const std::uint32_t now = segment().header().bell.groups.load(std::memory_order_seq_cst);
  if (now != seen_ && !broken_) {
    seen_ = now;
    LookAtSlots();
    worked = true;
  }
  worked |= root_->Poll();
  for (auto& [id, group] : groups_) worked |= group.exchange->Poll();
  return worked;
}

bool JobGroups::Sleep() {
  bool work = root_->Sleep();
  for (auto& [id, group] : groups_) work |= group.exchange->Sleep();
  const std::uint32_t now = segment().header().bell.groups.load(std::memory_order_seq_cst);
  return work || (now != seen_ && !broken_);
}

void JobGroups::Awake() {
  root_->Awake();
  for (auto& [id, group] : groups_) group.exchange->Awake();
}

// ---- The table ----------------------------------------------------------------------------------

void JobGroups::LookAfterGroups() {
  if (!groups_.empty()) LookAtSlots();
}

void JobGroups::LookAtSlots() {
  const std::uint32_t used =
      std::min(segment().header().groups.used.load(std::memory_order_acquire), kGroupSlotsMax);
  for (std::uint32_t slot = 0; slot < used && !broken_; ++slot) LookAtSlot(slot);
}

void JobGroups::LookAtSlot(std::uint32_t slot) {
  const GroupSlot& shared = segment().group_slot(slot);
  if (const auto adopted = by_slot_.find(slot); adopted != by_slot_.end()) {
    if (shared.state.load(std::memory_order_acquire) == GroupSlot::kLeft)
      FreeIfUnused(GroupId{adopted->second});
    return;
  }
  const std::optional<GroupWords> words = CopySlot(shared);
  if (!words) return;
  absl::StatusOr<OpenGroup> group = ReadGroup(segment(), root_->shape(), *words, open_);
  if (!group.ok())
    return root_->Break(ExchangeFault::kProgram, std::string(group.status().message()));
  // Left before it was seen: nobody here has arrived at a barrier of it.
  if (words->state == GroupSlot::kLeft) return Free(slot, *group, Segment::UseOf(shared));
  Adopt(slot, *std::move(group));
}

void JobGroups::Adopt(std::uint32_t slot, OpenGroup group) {
  const GroupId id = group.id;
  JobExchangeOwner& this_owner = *this;  // The base is private.
  PlannedGroup planned{.id = id, .part = segment().Part(group.offset, group.layout)};
  auto exchange = std::make_unique<JobExchange>(PlanOf(group, plan()), std::move(planned), self_,
                                                peers_, this_owner);
  if (const auto early = early_.extract(id); !early.empty()) {
    early_words_ -= early.mapped().size();
    for (const WorkerId worker : early.mapped()) {
      const std::uint32_t host = exchange->HostOf(worker);
      if (host < exchange->plan().hosts.size()) exchange->OnGroupHere(host);
    }
  }
  groups_[id] = {.slot = slot, .exchange = std::move(exchange)};
  by_slot_[slot] = id;
  open_.push_back(std::move(group));
}

void JobGroups::OnEarlyHere(WorkerId from, GroupId group) {
  if (broken_) return;
  if (early_words_ == kEarlyWordsMax) {
    return root_->Break(ExchangeFault::kProgram,
                        absl::StrCat("other nodes wait in ", kEarlyWordsMax,
                                     " groups that no process here has opened"));
  }
  early_words_ += 1;
  early_[group].push_back(from);
}

// ---- What was left ------------------------------------------------------------------------------

void JobGroups::OnDelivered(GroupId group, std::uint64_t token) {
  JobExchange* const exchange = Find(group);
  if (exchange == nullptr) return;
  exchange->OnDelivered(token);
  if (exchange->left()) FreeIfUnused(group);
}

// What the processes did last, answers perhaps, is sent before: it is in the bell.
void JobGroups::FreeIfUnused(GroupId id) {
  const auto found = groups_.find(id);
  found->second.exchange->Poll();
  if (!found->second.exchange->Leave()) return;
  const std::uint32_t slot = found->second.slot;
  receiving_.Unplace(plan().job, id);
  const bool much = found->second.exchange->ReturnMemory();
  groups_.erase(found);
  by_slot_.erase(slot);
  const auto open = std::find_if(open_.begin(), open_.end(),
                                 [id](const OpenGroup& group) { return group.id == id; });
  const OpenGroup group = std::move(*open);
  open_.erase(open);
  Free(slot, group, much ? Segment::PartUse::kMuch : Segment::UseOf(segment().group_slot(slot)));
}

void JobGroups::Free(std::uint32_t slot, const OpenGroup& group, Segment::PartUse use) {
  segment().GiveUpPart(segment().group_slot(slot), group.offset, group.layout.nprocs, use);
}

}  // namespace bspnow::worker
