// g and l, as the supersteps of a job show them: beyond w a superstep takes h*g + l (Q&A about BSP,
// section 4).
#ifndef BASE_COST_FIT_H_
#define BASE_COST_FIT_H_

#include <optional>
#include <span>

#include "base/beyond_class.h"

namespace bspnow {

/// An estimate and its standard error.
struct Estimate {
  double value;
  double error;
};

/// What cannot be told is absent: g where all h are about alike, and whatever is below its error.
struct CostFit {
  std::optional<Estimate> g_ns_per_byte;
  std::optional<Estimate> l_ns;
};

/// A straight line through the medians of the classes, each weighted by what is known of it. With
/// h = 0 alone it says l. `classes` are settled.
CostFit FitCost(std::span<const BeyondClass> classes);

}  // namespace bspnow

#endif  // BASE_COST_FIT_H_
