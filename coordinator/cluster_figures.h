// What the coordinator's metrics show, as one moment's snapshot.
#ifndef COORDINATOR_CLUSTER_FIGURES_H_
#define COORDINATOR_CLUSTER_FIGURES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/superstep_stats.h"

namespace bspnow {

struct ClusterFigures {
  struct Lease {
    std::string name;
    std::uint64_t age_ns;
  };

  std::map<std::string, std::uint64_t> jobs;     ///< By state.
  std::map<std::string, std::uint64_t> workers;  ///< By state: up, drained, lost.
  std::uint64_t slots_used = 0;
  std::uint64_t slots_free = 0;
  std::vector<Lease> leases;
  std::map<JobId, std::shared_ptr<const SuperstepStats>> running;
  std::map<std::string, std::uint64_t> refused;  ///< By reason, since the start.
  std::uint64_t connections = 0;                 ///< Of workers, for frames.
  std::uint64_t control_streams = 0;
  std::uint64_t barriers = 0;
  std::uint64_t bytes_read = 0;  ///< In frames.
  std::uint64_t bytes_written = 0;
  std::uint64_t output_bytes = 0;  ///< That jobs printed.
  std::uint64_t term = 0;
};

}  // namespace bspnow

#endif  // COORDINATOR_CLUSTER_FIGURES_H_
