#include "base/cost_fit.h"

#include <algorithm>
#include <cmath>

namespace bspnow {
namespace {

// Of a normal distribution: the standard error of a median is 1.2533 sigma / sqrt(n), and the
// quartiles are 1.349 sigma apart.
constexpr double kErrorOfSpread = 1.2533 / 1.349;
constexpr std::uint64_t kFewSupersteps = 4;  // Fewer say nothing of the spread: it may be all.
// However many there are: h varies within a class, and no cost is quite linear.
constexpr double kRelativeErrorMin = 0.02;
constexpr double kErrorMinNs = 10;  // The clock's.

/// One class as a point of the line.
struct Point {
  double h_bytes;
  double ns;
  double weight;  ///< One by the square of the standard error.
};

Point PointOf(const BeyondClass& of) {
  const auto n = static_cast<double>(of.supersteps);
  const double by_spread = of.supersteps < kFewSupersteps
                               ? of.median_ns / std::sqrt(n)
                               : kErrorOfSpread * of.spread_ns / std::sqrt(n);
  const double error = std::max({by_spread, kRelativeErrorMin * of.median_ns, kErrorMinNs});
  return {.h_bytes = static_cast<double>(of.h_bytes) / n,
          .ns = of.median_ns,
          .weight = 1 / (error * error)};
}

/// Sums over the points, as weighted least squares need them.
struct Sums {
  double n = 0;
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;

  void Add(const Point& p) {
    n += 1;
    w += p.weight;
    x += p.weight * p.h_bytes;
    y += p.weight * p.ns;
    xx += p.weight * p.h_bytes * p.h_bytes;
    xy += p.weight * p.h_bytes * p.ns;
  }
};

std::optional<Estimate> IfTold(double value, double error) {
  if (!std::isfinite(value) || !std::isfinite(error) || value <= error) return std::nullopt;
  return Estimate{value, error};
}

}  // namespace

CostFit FitCost(std::span<const BeyondClass> classes) {
  Sums sums;
  for (const BeyondClass& of : classes)
    if (of.supersteps != 0) sums.Add(PointOf(of));
  CostFit fit;
  const BeyondClass& silent = classes.front();
  if (sums.n == 1 && silent.supersteps != 0)
    fit.l_ns = IfTold(silent.median_ns, 1 / std::sqrt(PointOf(silent).weight));
  if (sums.n < 2) return fit;
  const double determinant = sums.w * sums.xx - sums.x * sums.x;
  double g = (sums.w * sums.xy - sums.x * sums.y) / determinant;
  double l = (sums.xx * sums.y - sums.x * sums.xy) / determinant;
  double l_variance = sums.xx / determinant;
  double freedom = sums.n - 2;
  if (g < 0) {  // No byte saves time: of the lines that may be the best one has no slope.
    g = 0;
    l = sums.y / sums.w;
    l_variance = 1 / sums.w;
    freedom = sums.n - 1;
  }
  // Where the points are farther from the line than their errors allow, those were too small.
  double misfit = 0;
  for (const BeyondClass& of : classes) {
    if (of.supersteps == 0) continue;
    const Point p = PointOf(of);
    const double off_ns = p.ns - l - g * p.h_bytes;
    misfit += p.weight * off_ns * off_ns;
  }
  const double scale = std::sqrt(freedom > 0 ? std::max(1.0, misfit / freedom) : 1.0);
  fit.g_ns_per_byte = IfTold(g, scale * std::sqrt(sums.w / determinant));
  fit.l_ns = IfTold(l, scale * std::sqrt(l_variance));
  return fit;
}

}  // namespace bspnow
