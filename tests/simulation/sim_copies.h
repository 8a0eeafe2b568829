// Who could have held an image: where a copy is missing, and a node was there all the time that has
// none, nobody has asked it.
#ifndef TESTS_SIMULATION_SIM_COPIES_H_
#define TESTS_SIMULATION_SIM_COPIES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/ids.h"
#include "tests/simulation/sim_oracle.h"

namespace bspnow {

class SimCopies {
 public:
  /// After each event: who is there now, and is not about to leave.
  void Look(const JobTable& table, std::uint64_t now_ns);
  void OnAsked(JobId job, std::uint64_t checkpoint, std::uint64_t now_ns) {
    asked_ns_.try_emplace({job, checkpoint}, now_ns);
  }
  /// A node that is there since `taken` was asked for and holds none of a part that has fewer than
  /// `copies` beside the first one; empty if there is none.
  std::string Missed(JobId job, const Checkpoint& taken, std::uint32_t copies) const;

 private:
  struct Stay {
    WorkerId worker;
    std::uint64_t since_ns;
  };
  std::map<std::string, Stay> stays_;  ///< By name.
  std::map<std::pair<JobId, std::uint64_t>, std::uint64_t> asked_ns_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_COPIES_H_
