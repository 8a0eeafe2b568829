#include "base/machine_variable.h"

#include <gtest/gtest.h>

#include <limits>

namespace bspnow {
namespace {

TEST(MachineVariableTest, SaysWhatWasMeasured) {
  EXPECT_EQ(MachineVariable(
                {.g_ns_per_byte = 8.5, .l_ns = 150'000, .half_bytes = 2000, .s_flops = 1.5e10}),
            "BSP_MACHINE=g=8.5,l=150000,n12=2000,s=1.5e+10");
}

TEST(MachineVariableTest, LeavesOutWhatNoMachineHas) {
  EXPECT_EQ(MachineVariable({.g_ns_per_byte = std::numeric_limits<double>::quiet_NaN(),
                             .l_ns = 3,
                             .half_bytes = -1,
                             .s_flops = std::numeric_limits<double>::infinity()}),
            "BSP_MACHINE=l=3");
  EXPECT_EQ(MachineVariable({.g_ns_per_byte = -1, .l_ns = -1, .half_bytes = -1, .s_flops = -1}),
            "");
}

TEST(MachineVariableTest, ZeroIsAFigureButNoMeasurement) {
  const MachineFigures figures{.g_ns_per_byte = 1, .l_ns = 0, .half_bytes = 0, .s_flops = -1};
  EXPECT_EQ(MachineVariable(figures), "BSP_MACHINE=g=1,l=0,n12=0");
  EXPECT_EQ(MeasuredMachineVariable(figures), "BSP_MACHINE=g=1");
}

TEST(MachineVariableTest, KnowsItself) {
  EXPECT_TRUE(NamesMachine("BSP_MACHINE=g=1"));
  EXPECT_FALSE(NamesMachine("BSP_MACHINES=g=1"));
}

}  // namespace
}  // namespace bspnow
