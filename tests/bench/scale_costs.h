// What the steps of tests/bench/scale.cc cost, as a table.
#ifndef TESTS_BENCH_SCALE_COSTS_H_
#define TESTS_BENCH_SCALE_COSTS_H_

#include <stdio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace bspnow::coordinator {

/// What each step costs, in its order.
class Costs {
 public:
  /// `limit_ns`: what it may cost in the large cluster; 0: that is not set.
  void Add(const std::string& what, double ns, double limit_ns = 0) {
    costs_.push_back({what, ns, limit_ns});
  }

  /// True if all are below their limits.
  bool Print(const Costs& of_a_tenth) const {
    bool kept = true;
    printf("%-64s %12s %12s %8s %10s\n", "", "cost", "at a tenth", "growth", "limit");
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      const Cost& cost = costs_[i];
      const double small_ns = of_a_tenth.costs_[i].ns;
      std::string limit;
      if (cost.limit_ns != 0) limit = Text(cost.limit_ns);
      if (cost.limit_ns != 0 && cost.ns > cost.limit_ns) {
        kept = false;
        limit += " MISSED";
      }
      printf("%-64s %12s %12s %7.1fx %10s\n", cost.what.c_str(), Text(cost.ns).c_str(),
             Text(small_ns).c_str(), cost.ns / small_ns, limit.c_str());
    }
    return kept;
  }

 private:
  struct Cost {
    std::string what;
    double ns;
    double limit_ns;
  };

  static std::string Text(double ns) {
    char text[32];
    if (ns < 1e6) {
      snprintf(text, sizeof text, "%.1f us", ns / 1e3);
    } else {
      snprintf(text, sizeof text, "%.2f ms", ns / 1e6);
    }
    return text;
  }

  std::vector<Cost> costs_;
};

/// Processor time: what else runs on the machine counts little.
inline double NsOf(const std::function<void()>& step) {
  const std::uint64_t start_ns = ProcessorNs();
  step();
  return static_cast<double>(ProcessorNs() - start_ns);
}

}  // namespace bspnow::coordinator

#endif  // TESTS_BENCH_SCALE_COSTS_H_
