// What is different in a group but for the root group. Nobody announces it: each worker finds it in
// its own node's segment. So a worker keeps back what it would send until the other one has said
// that it knows the group; meanwhile the processes wait at their barrier in any case.
#include <iterator>
#include <utility>

#include "worker/exchange/job_exchange.h"

namespace bspnow::worker {

void JobExchange::SendInGroup(std::uint32_t host, std::vector<OutgoingBatch>& frames) {
  if (!std::exchange(said_here_, true)) TellHosts(BatchContent::kGroupHere, 0);
  GroupHost& other = group_hosts_[host];
  if (other.knows) return streams_.Send(host, frames);
  other.held.insert(other.held.end(), std::make_move_iterator(frames.begin()),
                    std::make_move_iterator(frames.end()));
}

void JobExchange::TellHosts(BatchContent content, std::uint64_t token) {
  for (std::uint32_t host = 0; host < group_hosts_.size(); ++host) {
    if (host == shape_.self) continue;
    std::vector<OutgoingBatch> word;
    word.push_back(source_.Word(content, host));
    word.back().token = token;
    streams_.Send(host, word);
  }
}

FrameFault JobExchange::OnGroupWord(std::uint32_t host, const BatchPiece& piece,
                                    std::span<const std::byte> data) {
  if (IsRoot() || !data.empty()) return FrameFault::kMalformed;
  if (static_cast<BatchContent>(piece.content) == BatchContent::kGroupHere) OnGroupHere(host);
  return FrameFault::kNone;
}

std::vector<std::uint32_t> JobExchange::HeardFrom(std::uint64_t barrier) const {
  std::vector<std::uint32_t> pids;
  for (std::uint32_t host = 0; direct_ && host < plan_.hosts.size(); ++host) {
    if (host == shape_.self || !direct_->HasArrived(host, barrier)) continue;
    for (const Pid pid : plan_.hosts[host].pids) pids.push_back(Value(pid));
  }
  return pids;
}

void JobExchange::OnGroupHere(std::uint32_t host) {
  GroupHost& other = group_hosts_[host];
  if (broken_ || std::exchange(other.knows, true) || other.held.empty()) return;
  streams_.Send(host, other.held);
  other.held.clear();
}

// What is still kept back nobody waits for: a barrier that was passed has let everything go.
bool JobExchange::Leave() {
  if (broken_) return false;
  const bool first = !std::exchange(left_, true);
  if (!streams_.Holds()) return true;
  if (first) TellHosts(BatchContent::kGroupLeft, kGroupLeftToken);
  return false;
}

}  // namespace bspnow::worker
