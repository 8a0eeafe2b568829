// Unbuffered puts of the processes of a node to others, as libbsp's DirectQueue performs them: by
// bulk lanes in bsp_sync, before the barrier; by the workers what these did not take.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "tests/simulation/sim_node.h"

namespace bspnow {

using runtime::OwnTransfers;

// False: nobody here puts anything, nor may anybody put here by such a lane.
bool SimNode::PutByBulkLanes() {
  const bool ends = EndsSuperstep(left()) && !repeats(superstep());
  if (!ends || !program_.puts(shown())) return false;
  const std::vector<std::uint32_t> pids = PidsTakingPart();
  putting_ = static_cast<std::uint32_t>(pids.size());
  for (const std::uint32_t pid : pids) {
    const std::uint64_t late_ns = loop_.Chance(20) ? 20 * kMillisecond : kMillisecond / 2;
    OnProcesses(loop_.Below(late_ns), [this, pid] { EnterSync(pid); });
  }
  return true;
}

void SimNode::EnterSync(std::uint32_t pid) {
  Process& process = processes_[pid];
  if (process.left) return;
  const bool all = participants_ == static_cast<std::uint32_t>(start().spec().nprocs());
  if (!keeper_ || !all || !bulk_plan_.Any()) return OnPutsOver(pid);
  if (!process.bulk) {
    SimBulk::World world{.loop = loop_,
                         .oracle = oracle_,
                         .processes = participants_,
                         .unread =
                             [this, pid](std::uint64_t superstep) {
                               return oracle_.IsUnread(job_, epoch_, superstep, pid, participants_);
                             },
                         .after =
                             [this, pid](std::uint64_t delay_ns, std::function<void()> event) {
                               OnProcesses(delay_ns, [this, pid, event = std::move(event)] {
                                 if (!processes_[pid].left) event();
                               });
                             },
                         .open = [this, pid] { return BulkLanesOf(pid); }};
    process.bulk = std::make_unique<SimBulk>(std::move(world), process.area);
  }
  std::set<std::uint32_t> puts_to;
  for (const SimProgram::Message& put : process.puts) puts_to.insert(put.to);
  std::set<std::uint32_t> gets_from;
  for (const SimProgram::Message& message : program_.messages(shown(), pid, participants_))
    if (message.get) gets_from.insert(message.to);
  oracle_.OnInSync(job_, epoch_, superstep(), pid, gets_from);
  const bool buffered = program_.buffered(shown()) && gets_from.empty() && hosts() == participants_;
  process.bulk->Enter(superstep(), buffered ? OwnTransfers::kNone : OwnTransfers::kOther, puts_to);
  for (const SimProgram::Message& put : process.puts)
    process.bulk->Owe(put.to, pid, put.index, SimProgram::ValueOf(process.state.digest, put));
  for (const std::uint32_t to : puts_to)
    if (buffered) process.bulk->Offer(to, pid);
  process.bulk->SendAll([this, pid] { OnPutsOver(pid); });
}

// By their numbers between two hosts, of which each process reckons its own.
std::vector<SimBulk::Lane> SimNode::BulkLanesOf(std::uint32_t pid) const {
  std::vector<SimBulk::Lane> lanes;
  if (!lane_.on() || lane_.off()) return lanes;
  const auto& here = place(self()).pids();
  const auto own =
      static_cast<std::uint32_t>(std::find(here.begin(), here.end(), pid) - here.begin());
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (host == self()) continue;
    const auto& there = place(host).pids();
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(there.size()); ++i) {
      const std::uint32_t number = bulk_plan_.Place(self(), own, host, i);
      lanes.push_back({.pid = there[static_cast<int>(i)],
                       .pipe = lanes_.Bulk(Place(self()), host, number),
                       .here = SimLanes::EndOf(self(), host)});
    }
  }
  return lanes;
}

void SimNode::OnPutsOver(std::uint32_t pid) {
  SendPuts(pid);
  if (--putting_ == 0) After(0, &SimNode::Arrive);
}

void SimNode::SendPuts(std::uint32_t pid) {
  Process& process = processes_[pid];
  for (const SimProgram::Message& put : std::exchange(process.puts, {})) {
    if (process.bulk && process.bulk->Took(put.to)) {
      oracle_.Count(process.bulk->Buffered(put.to) ? "buffered puts by bulk lanes"
                                                   : "puts by bulk lanes");
      continue;
    }
    oracle_.Count("puts that bulk lanes did not take");
    const Outgoing outgoing{.host = HostOf(put.to),
                            .from_pid = pid,
                            .message = put,
                            .value = SimProgram::ValueOf(process.state.digest, put)};
    owed_[outgoing.host] += 1;
    SendMessage(outgoing, superstep());
  }
}

void SimNode::TakePuts(std::uint32_t pid) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> values;
  Process& process = processes_[pid];
  if (!process.area.Take(values))
    return oracle_.Fail("the memory of a process has other bytes than were put there");
  for (const auto& [put, value] : values)
    process.received += SimProgram::Received(put.first, put.second, value);
}

}  // namespace bspnow
