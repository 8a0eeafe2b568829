// An axis of a picture: what becomes of a value, and where its ticks are.
#ifndef CLIENT_PROFILE_CHART_AXIS_H_
#define CLIENT_PROFILE_CHART_AXIS_H_

#include <vector>

namespace bspnow::client {

class ChartAxis {
 public:
  enum class Scale { kLinear, kLog };

  /// From `low` to `high`, drawn from coordinate `at_low` to `at_high`. Logarithms need low > 0.
  ChartAxis(Scale scale, double low, double high, double at_low, double at_high);

  /// Values: from 0, or where they differ much, logarithms. Only those above 0 count.
  static ChartAxis For(const std::vector<double>& values, double at_low, double at_high);

  /// Within the axis, whatever the value.
  double At(double value) const;

  /// Values of few digits, some five.
  std::vector<double> Ticks() const;

  Scale scale() const { return scale_; }

 private:
  const Scale scale_;
  const double low_;
  const double high_;
  const double at_low_;
  const double at_high_;
};

}  // namespace bspnow::client

#endif  // CLIENT_PROFILE_CHART_AXIS_H_
