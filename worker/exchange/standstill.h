// What a node tells the coordinator of processes that wait in groups, once nothing has moved here
// for a while. Of circles that lead over several nodes no node sees the whole: see "Who is waited
// for" in docs/design.md. Who waits is said only of processes of which it is certain that they do
// nothing else meanwhile.
#ifndef WORKER_EXCHANGE_STANDSTILL_H_
#define WORKER_EXCHANGE_STANDSTILL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proto/workers.pb.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/group_facts.h"

namespace bspnow::worker {

/// What is not in the facts.
struct StandstillParts {
  std::function<bool(const ProcessCell&)> has_one_thread;
  /// JobExchange::HeardFrom of the group with this key.
  std::function<std::vector<std::uint32_t>(std::uint64_t key, std::uint64_t barrier)> heard_from;
};

/// What is to be said of facts that two looks have found.
proto::StandStill StandStillOf(const NodeFacts& facts, const Segment& job,
                               const StandstillParts& parts);

class StandstillWatch {
 public:
  /// After each look. `number`: DeadlockWatch::standstill. `describe` is StandStillOf. What is to
  /// be said, once nothing has moved for `patience_ns` and somebody waits.
  std::optional<proto::StandStill> OnLook(std::uint64_t number,
                                          const std::function<proto::StandStill()>& describe,
                                          std::uint64_t now_ns, std::uint64_t patience_ns);
  /// After a look that was ordered.
  proto::StandStill Answer(std::uint64_t number, const std::function<proto::StandStill()>& describe,
                           std::uint64_t look);

  /// As BarrierWatch has it.
  void SayAgain() { said_ = 0; }

 private:
  void Compare(std::uint64_t number, const proto::StandStill& now);

  std::uint64_t number_ = 0;  ///< Of the looks; and of what is said of them:
  std::uint64_t standing_ = 0;
  std::uint64_t since_ns_ = 0;
  std::string before_;      ///< Serialized.
  std::uint64_t said_ = 0;  ///< 0: nothing.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_STANDSTILL_H_
