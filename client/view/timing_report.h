// What --timing prints: the measured job beside the cost model, w + h*g + l a superstep.
#ifndef CLIENT_VIEW_TIMING_REPORT_H_
#define CLIENT_VIEW_TIMING_REPORT_H_

#include <cstdint>
#include <string>

namespace bspnow::client {

/// Sums over the supersteps of a job; w and h take the largest process of each superstep.
struct JobTiming {
  std::uint32_t processes;  ///< 0: no superstep was run.
  std::uint64_t supersteps;
  std::uint64_t total_ns;
  std::uint64_t w_ns;
  std::uint64_t h_bytes;
  std::uint64_t beyond_ns;  ///< What the supersteps took beyond w.
  std::uint64_t l_ns;       ///< The least of that among supersteps with h = 0.
  std::uint64_t silent;     ///< Supersteps with h = 0.
  std::uint64_t messages;   ///< Puts, gets and messages, all processes.
};

/// The sums, and a line for each of w, h, g and l: "-", in JSON null, where the supersteps say
/// nothing of g or l.
std::string CostsAsText(const JobTiming& job);

/// The same, as bsprun prints it. In JSON with the names that `bsp show --json` has, and g.
std::string TimingAsText(const JobTiming& job);
std::string TimingAsJson(const JobTiming& job);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_TIMING_REPORT_H_
