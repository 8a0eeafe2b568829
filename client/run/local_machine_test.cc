#include "client/run/local_machine.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow::client {
namespace {

class LocalMachineTest : public testing::Test {
 protected:
  LocalMachineTest() {
    setenv("XDG_STATE_HOME", home_.path().c_str(), 1);
    unsetenv("BSP_MACHINE");
  }

  static void Keep(std::uint32_t p, double g_ns, std::int64_t unix_ms) {
    proto::MachineParameters parameters;
    parameters.set_p(p);
    parameters.set_g_total_ns_per_byte(g_ns);
    parameters.set_l_ns(1000 * p);
    parameters.set_measured_unix_ms(unix_ms);
    const absl::Status kept = KeepParameters(parameters);
    ASSERT_TRUE(kept.ok()) << kept;
  }

  static JobOptions Run(std::uint32_t p) {
    JobOptions options;
    options.nprocs = p;
    return options;
  }

  ScratchDirectory home_;
};

TEST_F(LocalMachineTest, ProcessesHaveWhatWasMeasuredWithAsMany) {
  EXPECT_EQ(MachineOf(Run(4)), "");
  Keep(4, 0.5, 100);
  Keep(4, 0.25, 200);
  Keep(2, 0.125, 150);
  EXPECT_EQ(MachineOf(Run(4)), "BSP_MACHINE=g=0.25,l=4000");
  EXPECT_EQ(MachineOf(Run(2)), "BSP_MACHINE=g=0.125,l=2000");
  EXPECT_EQ(MachineOf(Run(3)), "");
  EXPECT_EQ(KeptParameters(0)->p(), 4u);
  EXPECT_TRUE(absl::IsNotFound(KeptParameters(3).status()));
}

TEST_F(LocalMachineTest, WhatTheUserSaysCounts) {
  Keep(4, 0.5, 100);
  JobOptions options = Run(4);
  options.environment = {"BSP_MACHINE=g=1"};
  EXPECT_EQ(MachineOf(options), "");
  setenv("BSP_MACHINE", "g=2", 1);
  EXPECT_EQ(MachineOf(Run(4)), "");
}

TEST_F(LocalMachineTest, WhatIsDamagedIsNotThere) {
  Keep(4, 0.5, 100);
  for (const auto& file : std::filesystem::directory_iterator(home_.path() + "/bspnow"))
    std::ofstream(file.path()) << "what is this";
  EXPECT_EQ(MachineOf(Run(4)), "");
  EXPECT_TRUE(absl::IsNotFound(KeptParameters(0).status()));
}

TEST_F(LocalMachineTest, AUserWithoutAHomeKeepsNothing) {
  Keep(4, 0.5, 100);
  std::filesystem::current_path(home_.path() + "/bspnow");  // Which is no place to look, either.
  setenv("XDG_STATE_HOME", "", 1);
  unsetenv("HOME");
  Keep(4, 0.5, 100);
  EXPECT_EQ(MachineOf(Run(4)), "");
}

}  // namespace
}  // namespace bspnow::client
