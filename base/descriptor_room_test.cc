#include "base/descriptor_room.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/testing/no_descriptors.h"

namespace bspnow {
namespace {

constexpr rlim_t kFew = 8;

TEST(DescriptorRoomTest, IsThereIfTheLimitMayBeRaised) {
  const std::uint64_t needed = kDescriptorsOfDaemon;
  EXPECT_EQ(LackOfDescriptors(needed, DescriptorLimit::kAsItIs), "");
  const NoDescriptors none;
  EXPECT_EQ(LackOfDescriptors(needed, DescriptorLimit::kRaised), "");
  EXPECT_NE(LackOfDescriptors(needed, DescriptorLimit::kAsItIs), "");
}

[[noreturn]] void EndWithFew() {
  const rlimit few{kFew, kFew};
  setrlimit(RLIMIT_NOFILE, &few);
  std::fputs(LackOfDescriptors(kDescriptorsOfClient, DescriptorLimit::kRaised).c_str(), stderr);
  std::_Exit(LackOfDescriptors(1, DescriptorLimit::kRaised).empty() ? EXIT_SUCCESS : EXIT_FAILURE);
}

TEST(DescriptorRoomDeathTest, WhatIsMissingIsSaid) {
  EXPECT_EXIT(
      EndWithFew(), testing::ExitedWithCode(EXIT_SUCCESS),
      "needs 24 descriptors besides the [0-9]+ that are open, and 8 are allowed; raise the limit");
}

}  // namespace
}  // namespace bspnow
