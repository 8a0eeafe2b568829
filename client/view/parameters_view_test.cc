#include "client/view/parameters_view.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

// bsp_g of a machine with s=2e9 and g=0.5 is 4: tests/conformance/level1/machine_parameters.c.
TEST(ParametersTextTest, CountsFlopsAndWordsAsProgramsAreTold) {
  proto::MachineParameters parameters;
  parameters.set_p(4);
  parameters.set_r_flops(2e9);
  parameters.set_l_ns(3000);
  parameters.set_g_shift_ns_per_byte(0.25);
  parameters.set_g_total_ns_per_byte(0.5);
  parameters.set_half_bytes(400);
  const std::string text = ParametersText(parameters);
  for (const char* part :
       {"4 processes", "2.000 Gflop/s", "6000 flops", "0.250 ns a byte   2.0 flops a word of 32",
        "0.500 ns a byte   4.0 flops a word of 32 bits   total exchange", "400 bytes"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(ParametersTextTest, ShowsNoNegativeHalfLength) {
  proto::MachineParameters parameters;
  parameters.set_half_bytes(-12);
  EXPECT_NE(ParametersText(parameters).find("n1/2  -\n"), std::string::npos);
}

}  // namespace
}  // namespace bspnow::client
