#include "worker/exchange/barrier_watch.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "runtime/link/lane_barrier.h"
#include "worker/exchange/groups_watch.h"

namespace bspnow::worker {
namespace {

// The letter that follows the name, in brackets, in /proc/PID/stat; 0 if there is no such process.
char StateLetter(std::uint32_t os_pid) {
  std::ifstream file(absl::StrCat("/proc/", os_pid, "/stat"));
  std::string text;
  std::getline(file, text);
  const std::size_t bracket = text.rfind(") ");
  return bracket == std::string::npos ? '\0' : text[bracket + 2];
}

Lateness LatenessOf(std::uint32_t os_pid) {
  switch (StateLetter(os_pid)) {
    case 'T':
    case 't':
      return Lateness::kStopped;
    case 'R':
      return Lateness::kComputing;
    case '\0':
    case 'X':
    case 'Z':
      return Lateness::kDead;
    default:
      return Lateness::kAsleep;
  }
}

LateProcess Late(const ProcessCell& cell, Pid pid) {
  const std::uint32_t os_pid = cell.os_pid;
  return {.pid = pid,
          .os_pid = os_pid,
          .lateness = os_pid == 0 ? Lateness::kComputing : LatenessOf(os_pid),
          .begun = cell.state.load() == ProcessState::kRunning};
}

// A process that is stopped or dead waits for nothing.
void NoteCounting(const MessagesAwaited& awaited, LateProcess& late) {
  if (late.lateness != Lateness::kComputing && late.lateness != Lateness::kAsleep) return;
  late.lateness = Lateness::kCounting;
  late.messages = awaited;
}

/// What the groups but the root group say.
struct GroupBarriers {
  std::uint32_t passed = 0;  ///< Barriers of those that are open.
  std::set<Pid> waiting{};   ///< Processes at a barrier.
  std::map<Pid, MessagesAwaited> counting{};
};

std::optional<MessagesAwaited> AwaitedBy(const Segment& segment, const ProcessCell& cell) {
  const CountedWait& wait = cell.counted_wait;
  const std::uint64_t superstep = wait.superstep.load(std::memory_order_acquire);
  if (superstep == 0) return std::nullopt;
  return MessagesAwaited{.superstep = superstep - 1 + segment.header().first_superstep,
                         .expected = wait.expected.load(),
                         .here = wait.here.load()};
}

GroupBarriers BarriersOfGroups(const Segment& segment) {
  GroupBarriers barriers;
  for (const OpenPart& open : OpenParts(segment)) {
    const Segment& part = open.segment;
    const std::uint32_t passed = part.header().barrier.released.value.load();
    barriers.passed += passed;
    for (std::uint32_t pid = 0; pid < part.layout().nprocs; ++pid) {
      const ProcessCell& cell = part.cell(Pid{pid});
      barriers.passed += cell.started.value.load();
      if (const auto awaited = AwaitedBy(part, cell))
        barriers.counting[Pid{cell.member}] = *awaited;
      if (cell.arrived.load() > passed) barriers.waiting.insert(Pid{cell.member});
    }
  }
  return barriers;
}

// The process that drives the lanes has arrived; but if somebody has stopped it, the others
// wait for it.
bool IsStoppedDriver(const NodeSegment& segment, const ProcessCell& cell, Pid pid) {
  return segment.segment().lanes().state.driver.load() == Value(pid) + 1 &&
         LatenessOf(cell.os_pid) == Lateness::kStopped;
}

bool HasAnswered(const ProcessCell& cell) {
  const std::uint32_t answered = cell.answered.value.load();
  return answered != 0 && answered == cell.started.value.load();
}

// It has passed the barrier, and is still in bsp_sync: it has answered the gets of the others, and
// waits for the answers to its own. Unless somebody has stopped it, it is not what they wait for.
bool AwaitsAnswers(const ProcessCell& cell) {
  if (!HasAnswered(cell)) return false;
  const Lateness lateness = LatenessOf(cell.os_pid);
  return lateness == Lateness::kComputing || lateness == Lateness::kAsleep;
}

}  // namespace

BarrierLook LookAtBarrier(const NodeSegment& segment, const std::vector<Pid>& here) {
  const std::uint32_t passed = segment.barriers();
  const GroupBarriers groups = BarriersOfGroups(segment.segment());
  BarrierLook look{.passed = passed + groups.passed};
  const std::uint32_t p = segment.participants();
  // They compute, ahead of the barrier at which they have arrived.
  LaneState& lanes = segment.segment().lanes().state;
  const bool ahead = LaneBarrier(lanes, 0, 0).Unattended(passed);
  // If all have answered here, and there is nobody elsewhere, nobody waits for answers.
  const bool answers_due = here.size() < p || !std::all_of(here.begin(), here.end(), [&](Pid pid) {
                             return HasAnswered(segment.segment().cell(pid));
                           });
  for (const Pid pid : here) {
    const ProcessCell& cell = segment.segment().cell(pid);
    const ProcessState state = cell.state.load();
    look.passed += cell.started.value.load();
    // Before pid 0 says p in bsp_begin, those who joined the job wait for it, and for nobody else.
    const bool joins = p == 0 && pid != Pid{0};
    if (joins && state == ProcessState::kAttached) look.arrived += 1;
    if (joins || (p != 0 && Value(pid) >= p) || state > ProcessState::kRunning) continue;
    if (((cell.arrived.load() > passed && !ahead) || groups.waiting.contains(pid) ||
         (answers_due && AwaitsAnswers(cell))) &&
        !IsStoppedDriver(segment, cell, pid)) {
      look.arrived += 1;
    } else if (state != ProcessState::kUnneeded) {
      look.late.push_back(Late(cell, pid));
      const auto in_group = groups.counting.find(pid);
      const auto awaited = in_group == groups.counting.end() ? AwaitedBy(segment.segment(), cell)
                                                             : std::optional(in_group->second);
      if (awaited) NoteCounting(*awaited, look.late.back());
    }
  }
  // Who waits for messages waits for one of the others: those are shown first.
  std::stable_partition(look.late.begin(), look.late.end(), [](const LateProcess& late) {
    return late.lateness != Lateness::kCounting;
  });
  return look;
}

std::optional<BarrierLook> BarrierWatch::OnLook(const BarrierLook& look, std::uint64_t now_ns,
                                                std::uint64_t patience_ns) {
  const bool again = std::exchange(again_, false);
  if (look.passed != passed_) {
    passed_ = look.passed;
    since_ns_ = now_ns;
    if (!std::exchange(said_, std::nullopt)) return std::nullopt;
    return BarrierLook{.passed = look.passed};
  }
  if (now_ns - since_ns_ < patience_ns || (said_ == look && !again)) return std::nullopt;
  said_ = look;
  return look;
}

}  // namespace bspnow::worker
