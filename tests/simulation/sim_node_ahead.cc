// Supersteps that end by counting: processes that go on from a barrier of lanes before it is over.
#include <utility>

#include "tests/simulation/sim_node.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kStepNs = 5 * kMicrosecond;

}  // namespace

bool SimNode::OwesHere(std::uint32_t host) const {
  for (const std::uint32_t pid : place(host).pids()) {
    if (pid >= participants_) continue;
    for (const SimProgram::Message& message : program_.messages(shown(), pid, participants_))
      if (HostOf(message.to) == self()) return true;
  }
  return false;
}

bool SimNode::Enough() const {
  if (ahead_ || repeats(superstep()) || !program_.counted(shown()) ||
      !lane_.MayGoAhead(driven_barrier_))
    return false;
  for (std::uint32_t host = 0; host < hosts(); ++host)
    if (lane_.Lacks(host, driven_barrier_) && OwesHere(host)) return false;
  return true;
}

// The worker may have taken the barrier over, and even released it, since the driver looked.
void SimNode::GoAhead() {
  if (Released() != driven_barrier_)
    return NextOfDriver(loop_.Below(kStepNs), &SimNode::StopDriving);
  oracle_.Count("supersteps ended ahead of their barrier");
  std::uint32_t from = 0;
  messages_ahead_.clear();
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (host == self() || lane_.Lacks(host, driven_barrier_)) continue;
    from |= 1u << host;
    for (const SimFrame& message : lane_hosts_[host].in[driven_barrier_ & 1]->messages)
      messages_ahead_.push_back(message);
  }
  lane_.GoAhead(driven_barrier_, from);
  driving_ = false;
  outbox_before_ = std::exchange(outbox_, {});
  ahead_ = leaves_ahead_ = received_ahead_ = true;
  came_back_ = false;
  After(loop_.Below(20 * kMicrosecond), &SimNode::LeaveBarrier);
}

// Another process than the one that drove, which may be about to go on: it tries once.
void SimNode::ComeBack() {
  came_back_ = true;
  lane_.ComeBack(Released());
  Drive();
  if (!driving_ && !lane_.off()) oracle_.Fail("a process comes back, and nobody drives the lanes");
}

// The barrier that they left is over: for them, if they wait for it.
void SimNode::EndAhead() {
  const std::uint64_t s = SuperstepOf(passed_ - 1);
  oracle_.OnOver(Place(self()), passed_ - 1);
  oracle_.OnSuperstepOver(Place(self()), s);
  if (release_.checkpoint != 0) oracle_.Fail("a checkpoint at a barrier that processes have left");
  std::uint64_t read = 0;
  std::uint64_t came = 0;
  for (const SimFrame& frame : messages_ahead_)
    read += SimProgram::Received(frame.from_pid, frame.index, frame.value) ^ frame.to_pid;
  for (const SimFrame& frame : inbox_[s])
    came += SimProgram::Received(frame.from_pid, frame.index, frame.value) ^ frame.to_pid;
  if (read != came) oracle_.Fail("processes went on with other messages than they were sent");
  inbox_.erase(s);
  if (came_back_) After(0, &SimNode::ReachBarrier);
}

}  // namespace bspnow
