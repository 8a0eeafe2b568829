// What the processes of a simulated node register: each tells all nodes, and compares what all have
// said.
#include "tests/simulation/sim_node.h"

namespace bspnow {

// First: they are what is not sent early.
void SimNode::PrepareVotes(std::uint64_t s) {
  if (!program_.registers(s)) return;
  for (const std::uint32_t pid : PidsTakingPart()) {
    for (std::uint32_t host = 0; host < hosts(); ++host) {
      if (host == self() || TakingPart(host) == 0) continue;
      const SimProgram::Message vote{
          .to = place(host).pids(0), .index = 0, .get = false, .put = false, .vote = true};
      outbox_.push_back(
          {.host = host, .from_pid = pid, .message = vote, .value = program_.VoteOf(s, pid)});
      owed_[host] += 1;
    }
  }
}

// Each process compares what all have registered: `votes` are those of other nodes, added up.
void SimNode::CheckVotes(std::uint64_t votes) {
  const std::uint64_t s = first_superstep_ + released_superstep();
  const bool registers = program_.registers(s);
  for (std::uint32_t host = 0; registers && host < hosts(); ++host)
    for (const std::uint32_t pid : place(host).pids())
      if (host != self() && pid < participants_)
        votes -= SimProgram::Received(pid, 0, program_.VoteOf(s, pid));
  if (votes != 0) oracle_.Fail("a node does not know what others have registered");
  if (passed_counts_.votes != (registers ? participants_ : 0))
    oracle_.Fail("a barrier ends with a wrong number of processes that registered something");
}

}  // namespace bspnow
