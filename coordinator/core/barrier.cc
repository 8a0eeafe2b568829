#include "coordinator/core/barrier.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordinator/core/superstep_stats.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint32_t kBitsPerByte = 8;

std::size_t BitmapBytes(std::uint32_t processes) {
  return (processes + kBitsPerByte - 1) / kBitsPerByte;
}

bool IsSet(std::span<const std::byte> bitmap, Pid pid) {
  const std::uint32_t i = Value(pid);
  return (bitmap[i / kBitsPerByte] & std::byte{1} << i % kBitsPerByte) != std::byte{0};
}

void SetBit(std::span<std::byte> bitmap, Pid pid) {
  const std::uint32_t i = Value(pid);
  bitmap[i / kBitsPerByte] |= std::byte{1} << i % kBitsPerByte;
}

}  // namespace

Barrier::Barrier(BarrierPlan plan)
    : nprocs_(plan.nprocs),
      resumes_(plan.participants != 0),
      direct_(plan.direct),
      adopting_(plan.origin == EpochOrigin::kAdopted),
      next_superstep_(resumes_ ? 1 : 0) {  // Superstep 0 only repeats registrations.
  for (BarrierHost& host : plan.hosts) {
    by_worker_.emplace_back(host.worker, hosts_.size());
    workers_.push_back(host.worker);
    const bool has_pid_0 = std::find(host.pids.begin(), host.pids.end(), Pid{0}) != host.pids.end();
    hosts_.push_back(
        Host{.worker = host.worker, .pids = std::move(host.pids), .has_pid_0 = has_pid_0});
  }
  std::sort(by_worker_.begin(), by_worker_.end());
  peers_.reserve(hosts_.size());
  named_by_.resize(hosts_.size());
  takes_part_.resize(hosts_.size());
  for (Phase& phase : phases_) {
    phase.owed.resize(hosts_.size());
    phase.releases.resize(hosts_.size());
    Open(phase);
  }
  if (resumes_) SetParticipants(plan.participants);
}

void Barrier::SetParticipants(std::uint32_t processes) {
  processes_ = processes;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    Host& member = hosts_[i];
    member.processes = static_cast<std::uint32_t>(std::count_if(
        member.pids.begin(), member.pids.end(), [&](Pid pid) { return Value(pid) < processes; }));
    if (member.processes == 0) continue;
    takes_part_[i] = 1;
    taking_part_ += 1;
  }
}

std::size_t Barrier::HostOf(WorkerId worker) const {
  const auto found =
      std::lower_bound(by_worker_.begin(), by_worker_.end(), std::pair{worker, std::size_t{0}});
  if (found == by_worker_.end() || found->first != worker) return hosts_.size();
  return found->second;
}

BarrierVerdict Barrier::Refuse(const char* why) {
  refusal_ = why;
  return BarrierVerdict::kRefused;
}

BarrierVerdict Barrier::OnBegin(WorkerId from, std::uint32_t processes) {
  const std::size_t host = HostOf(from);
  if (host == hosts_.size() || !hosts_[host].has_pid_0) {
    return Refuse("bsp_begin is announced by a worker without pid 0");
  }
  if (processes == 0 || processes > nprocs_) {
    return Refuse("bsp_begin is announced with a number of processes out of range");
  }
  if (processes_ != 0) {
    return processes == processes_ ? BarrierVerdict::kNothing
                                   : Refuse("bsp_begin is announced again with another number");
  }
  SetParticipants(processes);
  return BarrierVerdict::kTellBegin;
}

void Barrier::OnResumed() {
  resumes_ = true;
  next_superstep_ = std::max<std::uint64_t>(next_superstep_, 1);
}

BarrierVerdict Barrier::OnArrive(WorkerId from, const ArriveView& arrive) {
  const std::size_t index = HostOf(from);
  if (index == hosts_.size()) return Refuse("arrival of a worker without a process of the job");
  const std::uint64_t barrier = arrive.body().barrier;
  if (direct_ && barrier > current_) {
    if (processes_ == 0) return BarrierVerdict::kNothing;  // Nobody waits for it.
    SkipTo(barrier);
  }
  if (adopting_) return Hold(index, arrive);
  if (barrier < current_) {
    const bool last = barrier + 1 == current_ && takes_part(index);
    return last ? BarrierVerdict::kRepeat : BarrierVerdict::kNothing;
  }
  if (barrier > current_) return Refuse("arrival at a barrier before the one before is over");
  if (hosts_[index].arrived > barrier) return BarrierVerdict::kNothing;
  if (const char* why = Contradiction(hosts_[index], arrive)) return Refuse(why);
  if (const char* why = PeersContradiction(index, arrive)) return Refuse(why);

  Count(index, arrive);
  Phase& phase = phases_[barrier & 1];
  if (phase.arrived < taking_part_) return BarrierVerdict::kNothing;
  Finish(phase);
  return BarrierVerdict::kRelease;
}

// All are beyond bsp_end's.
void Barrier::SkipTo(std::uint64_t barrier) {
  adopting_ = false;
  current_ = barrier;
  ended_ = true;
  Open(phases_[barrier & 1]);
}

// ---- After a restart of the coordinator ---------------------------------------------------------

// Kept by parity: only the two newest can matter.
BarrierVerdict Barrier::Hold(std::size_t from, const ArriveView& arrive) {
  Host& host = hosts_[from];
  const std::uint64_t barrier = arrive.body().barrier;
  if (barrier + 2 < host.newest) return BarrierVerdict::kNothing;
  host.held[barrier & 1].assign(arrive.payload().begin(), arrive.payload().end());
  host.newest = std::max(host.newest, barrier + 1);
  return Adopt();
}

// All have arrived at the least of their newest barriers, and nobody is beyond the next. A worker
// names its newest first, so that the least is known when each has said something.
BarrierVerdict Barrier::Adopt() {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Host& host : hosts_) {
    if (host.processes > 0) least = std::min(least, host.newest);
  }
  if (processes_ == 0 || least == 0) return BarrierVerdict::kNothing;
  for (const Host& host : hosts_) {
    if (host.newest > least + 1) return Refuse("arrival more than one barrier ahead of another's");
    if (host.processes > 0 && !HeldAt(host, least - 1)) return BarrierVerdict::kNothing;
  }
  adopting_ = false;
  current_ = least - 1;
  BarrierVerdict verdict = BarrierVerdict::kNothing;
  for (const std::uint64_t barrier : {least - 1, least}) {
    for (const Host& host : hosts_) {
      const std::optional<ArriveView> arrive = HeldAt(host, barrier);
      if (!arrive) continue;
      const BarrierVerdict said = OnArrive(host.worker, *arrive);
      if (said == BarrierVerdict::kRefused) return said;
      if (said == BarrierVerdict::kRelease) verdict = said;
    }
  }
  may_checkpoint_ = false;  // Some may have passed it long ago.
  return verdict;
}

std::optional<ArriveView> Barrier::HeldAt(const Host& host, std::uint64_t barrier) {
  const std::optional<ArriveView> arrive = ArriveView::Decode(host.held[barrier & 1]);
  return arrive && arrive->body().barrier == barrier ? arrive : std::nullopt;
}

// ---- Counting -----------------------------------------------------------------------------------

const char* Barrier::Contradiction(const Host& host, const ArriveView& arrive) {
  const ArriveBody& body = arrive.body();
  if (processes_ == 0) return "arrival before bsp_begin";
  if (host.processes == 0) return "arrival of a worker whose processes do not take part";
  if (body.processes != host.processes) return "arrival of a wrong number of processes";
  if (std::max({body.with_data, body.with_gets, body.with_votes, body.ending, body.with_groups}) >
      body.processes) {
    return "arrival with counts above the number of processes";
  }
  const bool mixed = body.ending != 0 && body.ending != body.processes;
  if (body.ending_bytes != (mixed ? BitmapBytes(processes_) : 0)) {
    return "arrival with a bitmap of a wrong size";
  }
  if (!mixed) return nullptr;
  const auto ending = std::count_if(host.pids.begin(), host.pids.end(), [&](Pid pid) {
    return Value(pid) < processes_ && IsSet(arrive.ending(), pid);
  });
  return ending == body.ending ? nullptr : "arrival with a bitmap that is not its count";
}

// Leaves the hosts of the entries in peers_.
const char* Barrier::PeersContradiction(std::size_t from, const ArriveView& arrive) {
  if (arrive.body().peers > hosts_.size()) return "arrival with more peers than the job has";
  peers_.clear();
  arrivals_ += 1;
  for (std::uint32_t i = 0; i < arrive.body().peers; ++i) {
    // As a rule workers come in their order, one after the other: no search.
    const WorkerId worker{arrive.peer(i).worker};
    std::size_t peer = peers_.empty() ? 0 : peers_.back() + 1;
    if (peer == from) peer += 1;
    if (peer >= workers_.size() || workers_[peer] != worker) peer = HostOf(worker);
    if (peer == hosts_.size() || peer == from || !takes_part(peer)) {
      return "arrival that owes frames to a worker outside the group";
    }
    if (std::exchange(named_by_[peer], arrivals_) == arrivals_)
      return "arrival that names a peer twice";
    peers_.push_back(peer);
  }
  return nullptr;
}

void Barrier::Count(std::size_t from, const ArriveView& arrive) {
  const ArriveBody& body = arrive.body();
  Host& host = hosts_[from];
  Phase& phase = phases_[body.barrier & 1];
  if (phase.arrived == 0) Open(phase);
  host.arrived = body.barrier + 1;
  phase.arrived += 1;
  phase.ends_superstep += body.ends_superstep != 0 ? 1 : 0;
  phase.totals.with_data += body.with_data;
  phase.totals.with_gets += body.with_gets;
  phase.totals.with_votes += body.with_votes;
  phase.totals.ending += body.ending;
  phase.totals.with_groups += body.with_groups;
  CountEnding(host, arrive, phase);
  for (std::uint32_t i = 0; i < body.peers; ++i) {
    phase.owed[peers_[i]].push_back(
        {.worker = Value(host.worker), .reserved = 0, .frames = arrive.peer(i).frames});
  }
  if (body.has_sums == 0 || body.sums.superstep < next_superstep_) return;
  if (!std::exchange(phase.has_sums, true)) {
    phase.sums = SuperstepSums{};
    phase.sums.superstep = body.sums.superstep;
  }
  AddNode(body.sums, phase.sums);
}

void Barrier::CountEnding(const Host& host, const ArriveView& arrive, Phase& phase) {
  if (arrive.body().ending == 0) return;
  phase.ending.resize(BitmapBytes(processes_));
  for (const Pid pid : host.pids) {
    if (Value(pid) >= processes_) continue;
    if (arrive.ending().empty() || IsSet(arrive.ending(), pid)) SetBit(phase.ending, pid);
  }
}

void Barrier::Open(Phase& phase) {
  phase.totals = ReleaseBody{};
  phase.arrived = 0;
  phase.ends_superstep = 0;
  phase.ending.clear();
  phase.has_sums = false;
  for (std::vector<PeerOwed>& owed : phase.owed) owed.clear();
}

void Barrier::Finish(Phase& phase) {
  const bool mixed = phase.totals.ending != 0 && phase.totals.ending != processes_;
  phase.totals.barrier = current_;
  phase.totals.ending_bytes = mixed ? static_cast<std::uint32_t>(phase.ending.size()) : 0;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    phase.totals.peers = static_cast<std::uint32_t>(phase.owed[i].size());
    EncodeBarrier(phase.totals, phase.owed[i],
                  mixed ? std::span<const std::byte>(phase.ending) : std::span<const std::byte>(),
                  phase.releases[i]);
  }
  if (phase.has_sums) next_superstep_ = phase.sums.superstep + 1;
  over_ = ended_;
  ended_ |= phase.totals.ending == processes_;
  // The first superstep of an epoch that resumes is none of the program's.
  may_checkpoint_ = phase.ends_superstep == taking_part_ && phase.totals.ending == 0 &&
                    !(resumes_ && !std::exchange(repeated_, true)) && phase.totals.with_groups == 0;
  current_ += 1;
  phases_[current_ & 1].arrived = 0;  // Its releases may go: see Open.
}

void Barrier::Direct(const ReleaseDirective& directive) {
  BSP_CHECK(current_ > 0);
  for (std::vector<std::byte>& release : phases_[(current_ - 1) & 1].releases) {
    ReleaseBody body;
    memcpy(&body, release.data(), sizeof body);
    body.checkpoint = directive.checkpoint;
    body.base = directive.base;
    body.hold = directive.hold;
    memcpy(release.data(), &body, sizeof body);
  }
}

std::span<const std::byte> Barrier::release(std::size_t host) const {
  BSP_CHECK(current_ > 0);
  return phases_[(current_ - 1) & 1].releases[host];
}

const SuperstepSums* Barrier::sums() const {
  if (current_ == 0) return nullptr;
  const Phase& last = phases_[(current_ - 1) & 1];
  return last.has_sums ? &last.sums : nullptr;
}

}  // namespace bspnow::coordinator
