// The coordinator's metrics. docs/operations.md says of each what it is; what belongs to a job ends
// kEndedShownNs after it.
#ifndef COORDINATOR_METRICS_METRIC_FAMILIES_H_
#define COORDINATOR_METRICS_METRIC_FAMILIES_H_

#include "coordinator/core/cluster_figures.h"
#include "net/metrics/metric_list.h"

namespace bspnow::coordinator {

/// A job has fewer series than this. What a job has many of (processes it waits for, stragglers) is
/// shown as far as kNamedMax.
inline constexpr int kSeriesOfJobMax = 100;
inline constexpr int kNamedMax = 8;

void AddMetrics(const ClusterFigures& figures, MetricList& list);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_METRICS_METRIC_FAMILIES_H_
