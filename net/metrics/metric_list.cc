#include "net/metrics/metric_list.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace bspnow {

using nlohmann::json;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string ValidUtf8(const std::string& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

void MetricList::Begin(const std::string& name, const std::string& help, MetricType type) {
  families_.push_back(MetricFamily{name, help, type, {}});
}

void MetricList::Counter(const std::string& name, const std::string& help) {
  Begin(name, help, MetricType::Counter);
}

void MetricList::Gauge(const std::string& name, const std::string& help) {
  Begin(name, help, MetricType::Gauge);
}

void MetricList::Histogram(const std::string& name, const std::string& help) {
  Begin(name, help, MetricType::Histogram);
}

ClientMetric& MetricList::Series(const Labels& labels) {
  ClientMetric& metric = families_.back().metric.emplace_back();
  for (const Label& label : labels) metric.label.push_back({label.name, ValidUtf8(label.value)});
  return metric;
}

void MetricList::Add(const Labels& labels, double value) {
  const bool counts = families_.back().type == MetricType::Counter;
  ClientMetric& metric = Series(labels);
  (counts ? metric.counter.value : metric.gauge.value) = value;
}

void MetricList::Add(const Labels& labels, const ClientMetric::Histogram& histogram) {
  Series(labels).histogram = histogram;
}

std::vector<MetricFamily> MetricList::Take() {
  std::erase_if(families_, [](const MetricFamily& family) { return family.metric.empty(); });
  return std::move(families_);
}

}  // namespace bspnow
