// What each daemon says of itself: its version, its process as Prometheus' clients name that, and
// the disks on which its directories lie.
#ifndef NET_METRICS_PROCESS_METRICS_H_
#define NET_METRICS_PROCESS_METRICS_H_

#include <string>
#include <vector>

#include "net/metrics/metric_list.h"

namespace bspnow {

struct WatchedDirectory {
  const char* use;  ///< As the label `directory` has it: state, images.
  std::string path;
};

/// Not on a loop's thread: a disk may let it wait. So no directory of other machines is to be among
/// them, whose silence would look like the daemon's.
void AddProcessMetrics(const std::vector<WatchedDirectory>& directories, MetricList& list);

}  // namespace bspnow

#endif  // NET_METRICS_PROCESS_METRICS_H_
