// Metrics in Prometheus' form, put together at each scrape. Base units; counters end in _total; no
// label with an unbounded set of values. `job` is Prometheus' own label: ours is bsp_job.
#ifndef NET_METRICS_METRIC_LIST_H_
#define NET_METRICS_METRIC_LIST_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace bspnow {

/// `text` with what is no UTF-8 replaced by U+FFFD: one such label fails a whole scrape, and users
/// name their jobs.
std::string ValidUtf8(const std::string& text);

class MetricList {
 public:
  struct Label {
    const char* name;
    std::string value;
  };
  using Labels = std::vector<Label>;

  /// Each begins a family, to which Add adds series. A family without series is not shown.
  void Counter(const std::string& name, const std::string& help);
  void Gauge(const std::string& name, const std::string& help);
  void Histogram(const std::string& name, const std::string& help);

  /// Of a counter or a gauge.
  void Add(const Labels& labels, double value);
  void Add(const Labels& labels, const prometheus::ClientMetric::Histogram& histogram);

  std::vector<prometheus::MetricFamily> Take();

 private:
  void Begin(const std::string& name, const std::string& help, prometheus::MetricType type);
  prometheus::ClientMetric& Series(const Labels& labels);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace bspnow

#endif  // NET_METRICS_METRIC_LIST_H_
