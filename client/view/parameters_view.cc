#include "client/view/parameters_view.h"

#include <absl/strings/str_format.h>

#include "base/machine_word.h"
#include "client/view/quantities.h"

namespace bspnow::client {

std::string ParametersText(const proto::MachineParameters& m) {
  const double flops_per_ns = m.r_flops() * 1e-9;
  const auto g = [flops_per_ns](double ns_per_byte) {
    return absl::StrFormat("%.3f ns a byte   %.1f flops a word of 32 bits", ns_per_byte,
                           ns_per_byte * kBytesPerMachineWord * flops_per_ns);
  };
  // A fit through few points may say so, and no vector is that short.
  const std::string half = m.half_bytes() < 0 ? "-" : absl::StrFormat("%.0f bytes", m.half_bytes());
  return absl::StrFormat(
      "p     %d processes, measured %s\n"
      "r     %.3f Gflop/s of one process\n"
      "l     %s   %.0f flops\n"
      "g     %s   cyclic shift\n"
      "g     %s   total exchange\n"
      "n1/2  %s\n",
      m.p(), LocalTimeText(m.measured_unix_ms()), m.r_flops() * 1e-9, NsText(m.l_ns()),
      m.l_ns() * flops_per_ns, g(m.g_shift_ns_per_byte()), g(m.g_total_ns_per_byte()), half);
}

}  // namespace bspnow::client
