#include "worker/images/cpu_features.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bspnow {
namespace {

using Missing = std::vector<std::string>;

constexpr std::uint64_t kAvxState = 0x7;
constexpr std::uint64_t kAvx512State = 0xe7;

TEST(CpuFeaturesTest, NamesWhatIsMissing) {
  const CpuFeatures newer{.names = "fpu sse4_2 avx2 avx512f avx512_fp16 amx_tile", .xcr0 = 0};
  const CpuFeatures older{.names = "fpu sse4_2 avx2", .xcr0 = 0};
  EXPECT_EQ(MissingCpuFeatures(newer, older), (Missing{"amx_tile", "avx512_fp16", "avx512f"}));
  EXPECT_EQ(MissingCpuFeatures(older, newer), Missing{});
}

TEST(CpuFeaturesTest, IgnoresWhatNoCodeDependsOn) {
  const CpuFeatures here{.names = "sse2 constant_tsc nonstop_tsc hypervisor umip erms ht",
                         .xcr0 = 0};
  EXPECT_EQ(MissingCpuFeatures(here, {.names = "sse2", .xcr0 = 0}), Missing{});
}

TEST(CpuFeaturesTest, NamesRegistersThatTheKernelDoesNotSave) {
  EXPECT_EQ(
      MissingCpuFeatures({.names = "", .xcr0 = kAvx512State}, {.names = "", .xcr0 = kAvxState}),
      (Missing{"xcr0:opmask", "xcr0:zmm_hi256", "xcr0:hi16_zmm"}));
}

TEST(CpuFeaturesTest, ThisMachineRunsItsOwnImages) {
  const CpuFeatures present = PresentCpuFeatures();
  EXPECT_NE(present.names.find("sse2"), std::string::npos);
  EXPECT_NE(present.xcr0, 0u);
  EXPECT_EQ(MissingCpuFeatures(present, present), Missing{});
}

}  // namespace
}  // namespace bspnow
