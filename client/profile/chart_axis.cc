#include "client/profile/chart_axis.h"

#include <algorithm>
#include <cmath>

namespace bspnow::client {
namespace {

constexpr double kTicks = 4;
constexpr double kManyTimes = 40;  // The largest value of the median: from there on logarithms.
constexpr double kDecadesOfAllTicks = 3;

}  // namespace

ChartAxis::ChartAxis(Scale scale, double low, double high, double at_low, double at_high)
    : scale_(scale),
      low_(low),
      high_(std::max(high, scale == Scale::kLog ? low * 10 : low + 1e-9)),
      at_low_(at_low),
      at_high_(at_high) {}

ChartAxis ChartAxis::For(const std::vector<double>& values, double at_low, double at_high) {
  std::vector<double> sorted;
  for (const double value : values)
    if (value > 0) sorted.push_back(value);
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return {Scale::kLinear, 0, 1, at_low, at_high};
  if (sorted.back() < kManyTimes * sorted[sorted.size() / 2])
    return {Scale::kLinear, 0, sorted.back() * 1.05, at_low, at_high};
  const double low = std::max(sorted.front(), sorted.back() * 1e-7);
  return {Scale::kLog, low / 1.2, sorted.back() * 1.2, at_low, at_high};
}

double ChartAxis::At(double value) const {
  const double inside = std::clamp(value, low_, high_);
  const double part = scale_ == Scale::kLinear ? (inside - low_) / (high_ - low_)
                                               : std::log(inside / low_) / std::log(high_ / low_);
  return at_low_ + part * (at_high_ - at_low_);
}

std::vector<double> ChartAxis::Ticks() const {
  std::vector<double> ticks;
  if (scale_ == Scale::kLinear) {
    const double rough = (high_ - low_) / kTicks;
    const double unit = std::pow(10, std::floor(std::log10(rough)));
    const double step = unit * (rough < 2 * unit ? 2 : rough < 5 * unit ? 5 : 10);
    for (double tick = std::ceil(low_ / step) * step; tick <= high_; tick += step)
      ticks.push_back(tick);
    return ticks;
  }
  const double decades = std::log10(high_ / low_);
  const double factor = std::pow(10, std::ceil(decades / kDecadesOfAllTicks / 2));
  for (double tick = std::pow(10, std::ceil(std::log10(low_))); tick <= high_; tick *= factor)
    ticks.push_back(tick);
  return ticks;
}

}  // namespace bspnow::client
