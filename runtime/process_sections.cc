// Process, as far as a program has several SPMD sections, one after the other or one within
// another, as MulticoreBSP has them. See "SPMD sections" in docs/design.md.
//
// All of a section's supersteps, and what is said between sections, are supersteps of groups. A
// team is a group of processes whose pid 0 runs the program, while the others wait in a superstep
// of the team for its next order (Serve), or have come to the same call of bsp_begin by themselves.
// The root group is the first team.
#include <link.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "base/grow_array.h"
#include "runtime/link/report.h"
#include "runtime/process.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kNoProcedure = ~std::uint64_t{0};
constexpr std::uint32_t kAlone = 0x8000'0000;  // As a part: of no Partition.

/// Where the program itself, not one of its libraries, lies in this process.
struct ProgramCode {
  std::uint64_t start = 0;
  std::uint64_t procedure = 0;
  bool has_procedure = false;
};

// dl_iterate_phdr names the program first.
int LookAtProgram(dl_phdr_info* info, std::size_t, void* to) {
  auto& code = *static_cast<ProgramCode*>(to);
  code.start = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uint64_t from = code.start + header.p_vaddr;
    code.has_procedure |= header.p_type == PT_LOAD && code.procedure >= from &&
                          code.procedure < from + header.p_memsz;
  }
  return 1;
}

// Processes have the same program at different addresses.
std::uint64_t FromStart(void (*procedure)()) {
  if (procedure == nullptr) return kNoProcedure;
  ProgramCode code{.procedure = reinterpret_cast<std::uintptr_t>(procedure)};
  dl_iterate_phdr(&LookAtProgram, &code);
  if (!code.has_procedure) {
    ReportMisuse("bsp_init",
                 "the SPMD procedure is not in the program itself; give one that is, as other"
                 " processes may have a library elsewhere");
  }
  return code.procedure - code.start;
}

void (*AtStartPlus(std::uint64_t offset))() {
  ProgramCode code;
  dl_iterate_phdr(&LookAtProgram, &code);
  return reinterpret_cast<void (*)()>(code.start + offset);
}

// Of the processes i, i + p, i + 2p, ... of m.
std::uint32_t HelpersOf(std::uint32_t i, std::uint32_t p, std::uint32_t m) {
  return (m - 1 - i) / p + 1;
}

}  // namespace

// ---- The program ------------------------------------------------------------------------------

// Pids above 0 run the procedures of sections from here on, and never come back to main.
void Process::InitSection(void (*spmd)()) {
  EnsureAttached();
  if (spmd == nullptr) ReportMisuse("bsp_init", "the SPMD procedure is NULL");
  if (begun_ && !sectioned_) ReportMisuse("bsp_init", "call it first in main, before bsp_begin");
  procedure_ = spmd;
  if (begun_ || self_ == Pid{0}) return;
  BecomeSectioned(segment_->layout().nprocs);
  Serve(root_);
  exit(EXIT_SUCCESS);
}

void Process::BecomeSectioned(std::int64_t maxprocs) {
  sectioned_ = true;
  on_exit([](int, void* process) { static_cast<Process*>(process)->EndProgram(); }, this);
  JoinJob(maxprocs);
}

// At exit, when no section runs. The others wait for the next section, or are here, too.
void Process::EndProgram() {
  if (running_ || IsForkedChild()) return;
  if (self_ == Pid{0}) {
    open_groups_ += 1;  // So that no image is taken of processes that leave.
    Tell(root_, {.p = 0, .procedure = kNoProcedure});
  } else if (!dismissed_ && AwaitOrder(root_).p != 0) {
    ReportMisuse("exit",
                 "pid %u leaves the program, while pid 0 begins one more SPMD section; go"
                 " on to bsp_begin, or name the sections' procedures with bsp_init",
                 Value(self_));
  }
  root_.End(0);
  segment_->cell(self_).state.store(ProcessState::kEnded);
}

// ---- Teams ------------------------------------------------------------------------------------

void Process::Tell(Group& team, const SectionOrder& order) {
  for (std::uint32_t pid = 1; pid < team.p(); ++pid)
    team.Send("bsp_begin", pid, nullptr, &order, sizeof order);
  Sync(team, 0);
}

SectionOrder Process::AwaitOrder(Group& team) {
  Sync(team, 0);
  SectionOrder order;
  memcpy(&order, team.inbox().Front().payload, sizeof order);
  team.inbox().Pop();
  if (order.p == 0 && &team == &root_) dismissed_ = true;
  return order;
}

// Until the section is over in which they are helpers, or the program.
void Process::Serve(Group& team) {
  for (;;) {
    const SectionOrder order = AwaitOrder(team);
    if (order.p == 0) return;
    if (Value(team.self()) >= order.p) {
      Help(team, order.p);
      continue;
    }
    Enter(team, order.p);
    ordered_ = true;
    AtStartPlus(order.procedure)();
    if (ordered_ || !sections_.empty()) {
      ReportMisuse("bsp_end",
                   "the SPMD procedure has returned on pid %u without bsp_begin and"
                   " bsp_end; call both in it",
                   Value(self_));
    }
  }
}

// This process is none of the section's.
void Process::Help(Group& team, std::uint32_t p) {
  team.CountChild();
  Group& helpers = *OpenHelpers(team, p);
  Serve(helpers);
  Leave(helpers);
}

// Those whose pids in the team are alike modulo p: one of a section of p, and its helpers.
Group* Process::OpenHelpers(Group& team, std::uint32_t p) {
  const std::uint64_t child = team.CountChild();
  const std::uint32_t mine = Value(team.self()) % p;
  if (HelpersOf(mine, p, team.p()) == 1) return nullptr;
  GrowArray<std::uint32_t> parts;
  for (std::uint32_t pid = 0; pid < team.p(); ++pid) parts.push_back(pid % p);
  return &Open(team, child, &parts[0], mine);
}

// ---- Sections ---------------------------------------------------------------------------------

void Process::BeginSection(Call call, std::int64_t maxprocs) {
  EnsureAttached();
  RequireNoChild(call);
  if (ordered_) {
    ordered_ = false;
    return;
  }
  if (begun_ && !sectioned_)
    ReportMisuse(call,
                 "the program's first bsp_begin was the paper's; include mcbsp.h, or define"
                 " BSP_MULTICORE, in all files");
  Group* const team = running_ ? sections_.back().helpers : &root_;
  const bool alone = team == nullptr || (running_ && procedure_ == nullptr);
  // Before the program's first section no group has pids.
  const bool counts = alone || (begun_ ? team->self() : self_) == Pid{0};
  if (maxprocs < 1 && counts)
    ReportMisuse(call, "maxprocs is %lld; ask for at least 1 process",
                 static_cast<long long>(maxprocs));
  if (!begun_) {
    BecomeSectioned(procedure_ == nullptr ? maxprocs : segment_->layout().nprocs);
    if (procedure_ == nullptr) return Enter(root_, p_);  // All know p.
  }
  if (alone) return EnterAlone();
  SectionOrder order{.p = ProcessesFor(*team, maxprocs), .procedure = FromStart(procedure_)};
  if (team->self() == Pid{0}) {
    Tell(*team, order);
  } else {
    order = AwaitOrder(*team);
  }
  if (order.p == 0) {
    ReportMisuse(call,
                 "pid 0 has left the program, while pid %u begins one more SPMD section;"
                 " begin it on all processes, or on none",
                 Value(self_));
  }
  if (order.procedure == kNoProcedure && team == &root_) able_ = order.p;
  if (Value(team->self()) < order.p) return Enter(*team, order.p);
  // It cannot come back to what follows the section in main.
  Help(*team, order.p);
  Serve(*team);
  exit(EXIT_SUCCESS);
}

// Without a procedure, those that come to bsp_begin by themselves.
std::uint32_t Process::ProcessesFor(const Group& team, std::int64_t maxprocs) const {
  const std::uint32_t most = procedure_ == nullptr ? able_ : team.p();
  return static_cast<std::uint32_t>(std::min(maxprocs, std::int64_t{most}));
}

void Process::Enter(Group& team, std::uint32_t p) {
  Section section{.team = &team,
                  .group = &team,
                  .helpers = nullptr,
                  .procedure = procedure_,
                  .scratch_bytes = collectives_.scratch_bytes};
  if (p < team.p()) {
    GrowArray<std::uint32_t> parts;
    for (std::uint32_t pid = 0; pid < team.p(); ++pid) parts.push_back(pid < p ? 0 : 1);
    section.group = &Partition(team, &parts[0]);
    section.helpers = OpenHelpers(team, p);
  }
  PushSection(section);
}

void Process::EnterAlone() {
  const std::uint32_t part = kAlone | Value(group_->self());
  GrowArray<std::uint32_t> parts;
  parts.Resize(group_->p());
  parts[Value(group_->self())] = part;
  Group& group = Open(*group_, ++alone_, &parts[0], part);
  PushSection({.team = nullptr,
               .group = &group,
               .helpers = nullptr,
               .procedure = procedure_,
               .scratch_bytes = collectives_.scratch_bytes});
}

void Process::PushSection(const Section& section) {
  sections_.push_back(section);
  sections_.back().open_groups = open_groups();
  group_ = section.group;
  procedure_ = nullptr;  // Of sections within this one.
  collectives_.scratch_bytes = 0;
  running_ = true;
}

void Process::EndSection(std::uint64_t call_site) {
  RequireGroupsLeft({"bsp_end", call_site}, sections_.back().open_groups);
  group_->NoteEndOfSection();
  if (group_->IsRoot()) areas_.Drop();  // Images that the barrier below takes are of the process.
  Sync(call_site);
  const Section over = sections_.back();
  sections_.pop_back();
  running_ = !sections_.empty();
  group_ = running_ ? sections_.back().group : &root_;
  procedure_ = over.procedure;
  collectives_.scratch_bytes = over.scratch_bytes;
  if (over.group == over.team) {
    over.group->StartAnew();
  } else {
    Leave(*over.group);
  }
  if (over.helpers == nullptr) return;
  Tell(*over.helpers, {.p = 0, .procedure = kNoProcedure});
  Leave(*over.helpers);
}

}  // namespace bspnow::runtime
