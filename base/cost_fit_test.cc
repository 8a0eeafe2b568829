#include "base/cost_fit.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

namespace bspnow {
namespace {

class CostFitTest : public testing::Test {
 protected:
  /// Supersteps with this h, which take h*g + l and up to `noise` of that more or less.
  void Run(int supersteps, std::uint64_t h_bytes, double noise) {
    for (int i = 0; i < supersteps; ++i) {
      const double ns = kG * static_cast<double>(h_bytes) + kL;
      const double off = 2 * static_cast<double>(random_() % 1000) / 1000 - 1;
      AddBeyond(h_bytes, ns * (1 + noise * off), classes_[ClassOf(h_bytes)]);
    }
  }
  CostFit Fit() {
    for (BeyondClass& of : classes_) Settle(of);
    return FitCost(classes_);
  }

  static constexpr double kG = 0.5;
  static constexpr double kL = 20'000;
  std::array<BeyondClass, BeyondClass::kCount> classes_{};
  std::mt19937 random_{11};
};

TEST_F(CostFitTest, FindsWhatWasPrescribedWithinItsErrors) {
  Run(200, 0, 0.3);
  Run(100, 100'000, 0.3);
  Run(50, 1'000'000, 0.3);
  Run(50, 8'000'000, 0.3);
  const CostFit fit = Fit();
  ASSERT_TRUE(fit.g_ns_per_byte);
  ASSERT_TRUE(fit.l_ns);
  EXPECT_NEAR(fit.g_ns_per_byte->value, kG, 3 * fit.g_ns_per_byte->error);
  EXPECT_NEAR(fit.l_ns->value, kL, 3 * fit.l_ns->error);
  EXPECT_LT(fit.g_ns_per_byte->error, 0.1 * kG);
  EXPECT_LT(fit.l_ns->error, 0.1 * kL);
}

TEST_F(CostFitTest, WithoutCommunicationSaysLAlone) {
  Run(100, 0, 0.2);
  const CostFit fit = Fit();
  EXPECT_FALSE(fit.g_ns_per_byte);
  ASSERT_TRUE(fit.l_ns);
  EXPECT_NEAR(fit.l_ns->value, kL, 0.1 * kL);
}

TEST_F(CostFitTest, OneSuperstepSaysNothing) {
  Run(1, 0, 0);
  EXPECT_FALSE(Fit().l_ns);
}

TEST_F(CostFitTest, OneSizeOfHSaysNeither) {
  Run(1000, 4096, 0.1);
  const CostFit fit = Fit();
  EXPECT_FALSE(fit.g_ns_per_byte);
  EXPECT_FALSE(fit.l_ns);
}

// The noise of the barrier passes for no g.
TEST_F(CostFitTest, AFewBytesSayNothingOfG) {
  Run(100, 0, 0.5);
  Run(100, 8, 0.5);
  EXPECT_FALSE(Fit().g_ns_per_byte);
}

// At the start of a job: a line through the medians would fall, and end in an l that no superstep
// has taken.
TEST_F(CostFitTest, AFewSlowSilentSuperstepsDoNotMakeAnL) {
  Run(10'000, 16, 0.3);
  for (int i = 0; i < 2; ++i) AddBeyond(0, 50 * kL, classes_[0]);
  const CostFit fit = Fit();
  EXPECT_FALSE(fit.g_ns_per_byte);
  ASSERT_TRUE(fit.l_ns);
  EXPECT_NEAR(fit.l_ns->value, kL, 0.1 * kL);
  EXPECT_LT(fit.l_ns->error, 0.1 * kL);
}

TEST_F(CostFitTest, NothingSaysNothing) {
  const CostFit fit = Fit();
  EXPECT_FALSE(fit.g_ns_per_byte);
  EXPECT_FALSE(fit.l_ns);
}

}  // namespace
}  // namespace bspnow
