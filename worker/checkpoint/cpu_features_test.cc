#include "worker/checkpoint/cpu_features.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bspnow::worker {
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

TEST(CpuFeaturesTest, OfALimitedProcessOnlyWhatItMayUseIsMissed) {
  const CpuFeatures newer{.names = "sse sse4_2 avx avx2 avx512f", .xcr0 = kAvx512State};
  const CpuFeatures older{.names = "sse sse4_2 avx", .xcr0 = kAvxState};
  EXPECT_FALSE(MissingCpuFeatures(LimitedTo({}, newer), older).empty());
  EXPECT_EQ(MissingCpuFeatures(LimitedTo({"sse", "sse4_2", "avx"}, newer), older), Missing{});
  EXPECT_EQ(MissingCpuFeatures(LimitedTo({"sse", "avx"}, newer), {.names = "sse", .xcr0 = 0x3}),
            (Missing{"avx", "xcr0:avx"}));
}

TEST(CpuFeaturesTest, GlibcIsToldWhatToLeaveAlone) {
  const CpuFeatures present{.names = "sse2 abm avx2 avx512f vaes", .xcr0 = 0};
  EXPECT_EQ(TunablesFor({"sse2", "avx2"}, present), "glibc.cpu.hwcaps=-LZCNT,-AVX512F");
  EXPECT_EQ(TunablesFor({"sse2", "abm", "avx2", "avx512f", "avx512vl"}, present), "");
  EXPECT_EQ(TunablesFor({}, present), "");
}

TEST(CpuFeaturesTest, ThisMachineRunsItsOwnImages) {
  const CpuFeatures present = PresentCpuFeatures();
  EXPECT_NE(present.names.find("sse2"), std::string::npos);
  EXPECT_NE(present.xcr0, 0u);
  EXPECT_EQ(MissingCpuFeatures(present, present), Missing{});
}

}  // namespace
}  // namespace bspnow::worker
