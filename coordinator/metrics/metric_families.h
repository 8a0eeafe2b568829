// The coordinator's metrics in Prometheus' form. Base units; counters end in _total; no label with
// an unbounded set of values; what belongs to a job ends with it. `job` is Prometheus' own label:
// ours is bsp_job.
#ifndef COORDINATOR_METRICS_METRIC_FAMILIES_H_
#define COORDINATOR_METRICS_METRIC_FAMILIES_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "coordinator/core/cluster_figures.h"

namespace bspnow::coordinator {

std::vector<prometheus::MetricFamily> MetricFamilies(const ClusterFigures& figures);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_METRICS_METRIC_FAMILIES_H_
