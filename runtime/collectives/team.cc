#include "runtime/collectives/team.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bspnow::runtime {
namespace {

constexpr std::size_t kKeptBytesMax = std::size_t{16} << 20;
constexpr std::size_t kLentBytesMax = std::size_t{64} << 20;  // To the system, until the next call.
constexpr std::size_t kScratchBytesMax = ScratchBytes(Nodes::kSeveral);
constexpr std::size_t kNameBytes = 64;  // After the scratch area: its address is NameOfNothing.

struct AlgorithmName {
  const char* name;
  bool takes_ways;
};
constexpr AlgorithmName kAlgorithmNames[kAlgorithms] = {
    {"direct", false}, {"tree", true}, {"two-phase", false}, {"pipeline", true}, {"read", false}};

/// What a process tells the next one with BSP_CHECK=full.
struct Announcement {
  std::uint64_t mark;
  std::uint32_t pid;
  std::uint32_t root;
  std::uint64_t bytes;
  std::uint64_t element_bytes;
  char name[32];
};
constexpr std::uint64_t kAnnouncementMark = 0x636f'6c6c'6563'7469;

[[noreturn]] void OutOfMemory(const Team& team, std::size_t bytes) {
  ReportFailure("%s: the system refuses %zu bytes", team.what().call.name, bytes);
}

std::uint8_t AlgorithmNamed(const char* name) {
  std::uint8_t i = 0;
  while (i < kAlgorithms && std::strcmp(kAlgorithmNames[i].name, name) != 0) ++i;
  return i;
}

void ReadEnvironment(CollectiveState& state, Call call) {
  if (state.environment_read) return;
  state.environment_read = true;
  if (const char* trace = std::getenv("BSP_TRACE")) {
    state.trace = std::strstr(trace, "collectives") != nullptr;
  }
  if (const char* name = std::getenv("BSP_COLLECTIVES")) {
    state.wanted = AlgorithmNamed(name);
    if (state.wanted == kAlgorithms) {
      ReportMisuse(call,
                   "BSP_COLLECTIVES=%s names no algorithm; write direct, tree, two-phase, pipeline"
                   " or read",
                   name);
    }
  }
  const char* machine = std::getenv("BSP_MACHINE");
  if (machine != nullptr && !ParseMachine(machine, state.given)) {
    ReportMisuse(call,
                 "BSP_MACHINE=%s is not understood; write g=NS,l=NS,n12=BYTES,s=FLOPS, or some of"
                 " these",
                 machine);
  }
}

}  // namespace

Machine KnownMachine(const Group& group, CollectiveState& state, Call call) {
  ReadEnvironment(state, call);
  // Of a machine that is simulated each processor is a node.
  const std::uint32_t nodes = group.simulated() ? group.p() : group.segment().header().nodes;
  return MachineOf(group.p(), std::max(nodes, 1u), state.given);
}

Team::Team(Process& process, Group& group, CollectiveState& state, const CollectiveCall& call)
    : process_(process), group_(group), state_(state), what_(call), settled_(call.copied) {
  ReadEnvironment(state_, what_.call);
  if (!settled_ && group_.HasTransfers()) group_.CallForVotes();
  if (group_.segment().layout().check_full && p() > 1) RequireAlike();
}

// ---- The choice -------------------------------------------------------------------------------

Plan Team::Choose() {
  const Machine machine = KnownMachine(group_, state_, what_.call);
  Plan plan = MakePlan(what_.collective, machine, p(), what_.bytes);
  if (state_.wanted < kAlgorithms && plan.candidates[state_.wanted].cost_ns >= 0) {
    plan.algorithm = static_cast<Algorithm>(state_.wanted);
  }
  if (__builtin_expect(state_.trace, 0) && self() == 0) Trace(plan, machine);
  return plan;
}

void Team::Trace(const Plan& plan, const Machine& machine) {
  std::uint8_t& traced = state_.traced[static_cast<std::size_t>(what_.collective)];
  const auto chosen = static_cast<std::size_t>(plan.algorithm);
  if ((traced >> chosen & 1) != 0) return;
  traced = static_cast<std::uint8_t>(traced | 1u << chosen);
  char costs[256] = "";
  std::size_t at = 0;
  for (std::size_t i = 0; i < kAlgorithms; ++i) {
    const Plan::Candidate& candidate = plan.candidates[i];
    if (candidate.cost_ns < 0) continue;
    char ways[16] = "";
    if (kAlgorithmNames[i].takes_ways) {
      std::snprintf(ways, sizeof ways, " of %u", candidate.ways);
    }
    at += static_cast<std::size_t>(std::snprintf(costs + at, sizeof costs - at, "%s%s%s %.1f us",
                                                 at == 0 ? "" : ", ", kAlgorithmNames[i].name, ways,
                                                 candidate.cost_ns / 1000));
  }
  std::fprintf(stderr,
               "bspnow: %s of %zu bytes, p = %u, %s: %s (%s; g = %g ns a byte, l = %g us,"
               " n1/2 = %g bytes)\n",
               what_.call.name, what_.bytes, p(),
               machine.nodes == Nodes::kOne ? "one node" : "several nodes",
               kAlgorithmNames[chosen].name, costs, machine.g_ns_per_byte, machine.l_ns / 1000,
               machine.half_bytes);
}

// ---- Areas ------------------------------------------------------------------------------------

// For groups on one node and on several, which may be there one after another.
void Team::MapScratch() {
  if (state_.scratch.valid()) return;
  state_.scratch = MappedRegion::Private(kScratchBytesMax + kNameBytes);
  if (!state_.scratch.valid()) OutOfMemory(*this, kScratchBytesMax);
}

std::byte* Team::Scratch() {
  if (state_.scratch_bytes == 0) {
    MapScratch();
    state_.scratch_bytes = scratch_bytes();
    Register(state_.scratch.data(), state_.scratch_bytes);
  }
  return state_.scratch.data();
}

const void* Team::NameOfNothing() {
  MapScratch();
  return state_.scratch.data() + kScratchBytesMax;
}

const void* Team::Register(const void* area, std::size_t bytes) {
  const void* const named = area == nullptr ? NameOfNothing() : area;
  group_.Push(what_.call, reinterpret_cast<std::uintptr_t>(named), area == nullptr ? 0 : bytes);
  Sync();
  return named;
}

void Team::Move(Direction direction, std::uint32_t pid, const void* area, std::size_t offset,
                void* local, std::size_t bytes) {
  if (bytes == 0) return;
  // Who reads the scratch area has not arrived yet while others may write it without a buffer.
  const bool scratch = area == state_.scratch.data();
  group_.Move({.call = what_.call.name,
               .direction = direction,
               .buffering = scratch ? Buffering::kBuffered : Buffering::kUnbuffered,
               .pid = pid,
               .area = area,
               .offset = offset,
               .local = local,
               .bytes = bytes,
               .call_site = what_.call.site});
}

Landing::Landing(Team& team, std::size_t bytes)
    : team_(team), memory_(team.state().landing), registered_(!team.HasRoom(bytes)) {
  if (!registered_) {
    data_ = team.Scratch();
    return;
  }
  if (memory_.bytes() < bytes) {
    memory_ = MappedRegion::Private(bytes);
    if (!memory_.valid()) OutOfMemory(team, bytes);
    // Its pages are touched for the first time in the fold itself: the fewer, the better.
    madvise(memory_.data(), bytes, MADV_HUGEPAGE);
  }
  data_ = memory_.data();
  team.Register(data_, bytes);
}

// What is given back for good has to be cleared again at the next call, for a fifth of its time.
Landing::~Landing() {
  if (!registered_ || memory_.bytes() <= kKeptBytesMax) return;
  if (memory_.bytes() > kLentBytesMax || madvise(data_, memory_.bytes(), MADV_FREE) != 0)
    memory_.Reset();
}

// ---- BSP_CHECK=full ---------------------------------------------------------------------------

// By messages, since one that makes another call has registered nothing. Each process tells the
// next one: a difference anywhere is one between neighbours.
void Team::RequireAlike() {
  Announcement mine{.mark = kAnnouncementMark,
                    .pid = self(),
                    .root = what_.root,
                    .bytes = what_.bytes,
                    .element_bytes = what_.element_bytes,
                    .name = {}};
  std::strncpy(mine.name, what_.call.name, sizeof mine.name - 1);
  MapScratch();
  // Some tag, as large as tags are; what is beyond the scratch area is not checked.
  if (group_.tag_bytes() > kScratchBytesMax) return;
  group_.Send(what_.call, (self() + 1) % p(), state_.scratch.data(), &mine, sizeof mine);
  Sync();
  const std::uint32_t before = (self() + p() - 1) % p();
  bool found = false;
  Announcement other{};
  for (BsmpInbox& inbox = group_.inbox(); !inbox.empty(); inbox.Pop()) {
    const BsmpInbox::Message message = inbox.Front();
    if (message.payload_bytes == sizeof other) std::memcpy(&other, message.payload, sizeof other);
    if (message.payload_bytes == sizeof other && other.mark == kAnnouncementMark) {
      found = true;
    } else {
      ReportMisuse(what_.call,
                   "a message that was sent in the superstep which this call ends would"
                   " be lost; call bsp_sync and read it before");
    }
  }
  if (!found) {
    ReportMisuse(what_.call,
                 "pid %u ended the superstep with another call; make collective calls"
                 " on all processes, in the same order",
                 before);
  }
  if (std::strcmp(other.name, mine.name) != 0 || other.root != mine.root ||
      other.bytes != mine.bytes || other.element_bytes != mine.element_bytes) {
    ReportMisuse(what_.call,
                 "calls differ: root %u, %zu bytes here, and %s, root %u, %llu bytes on pid %u;"
                 " make the same call on all processes",
                 mine.root, what_.bytes, other.name, other.root,
                 static_cast<unsigned long long>(other.bytes), before);
  }
}

}  // namespace bspnow::runtime
