#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow {
namespace {

constexpr char kMounts[] =
    "31 1 0:30 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "33 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

TEST(CgroupOfTest, IsTheOneOfVersionTwo) {
  EXPECT_EQ(CgroupOf("4:cpu:/a\n0::/b/c\n", kMounts, ""), "/sys/fs/cgroup/unified/b/c");
  EXPECT_EQ(CgroupOf("4:cpu:/a\n", kMounts, ""), "");
  EXPECT_EQ(CgroupOf("0::/b\n", "32 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw\n", ""), "");
}

TEST(CgroupOfTest, IsBelowTheRootThatIsMounted) {
  const std::string mounts = "41 31 0:38 /b /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(CgroupOf("0::/b/c\n", mounts, ""), "/sys/fs/cgroup/c");
  EXPECT_EQ(CgroupOf("0::/../d\n", mounts, ""), "");
}

// As in a container that sees the groups of its machine: Docker's way in version 1.
TEST(CgroupOfTest, MayBeTheRootThatIsMounted) {
  const std::string mounts =
      "378 374 0:32 /docker/e046 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  EXPECT_EQ(CgroupOf("4:memory:/docker/e046\n", mounts, "memory"), "/sys/fs/cgroup/memory");
  EXPECT_EQ(CgroupOf("4:memory:/docker/e046/a\n", mounts, "memory"), "/sys/fs/cgroup/memory/a");
  EXPECT_EQ(CgroupOf("4:memory:/docker/e0467\n", mounts, "memory"), "");
  EXPECT_EQ(CgroupOf("0::/\n", kMounts, ""), "/sys/fs/cgroup/unified/");
}

TEST(CgroupOfTest, IsOfOneControllerInVersionOne) {
  const std::string groups = "5:cpu,cpuacct:/a\n4:memory:/m:n\n0::/b\n";
  EXPECT_EQ(CgroupOf(groups, kMounts, "memory"), "/sys/fs/cgroup/memory/m:n");
  EXPECT_EQ(CgroupOf(groups, kMounts, "cpu"), "/sys/fs/cgroup/cpu/a");
  EXPECT_EQ(CgroupOf(groups, kMounts, "pids"), "");
}

TEST(CgroupProcessorsTest, AreTheLeastOfTheGroupAndThoseAboveIt) {
  const ScratchDirectory scratch;
  const std::string inner = scratch.path() + "/outer/inner";
  std::filesystem::create_directories(inner);
  EXPECT_EQ(CgroupProcessors(inner), 0u);
  std::ofstream(inner + "/cpu.max") << "max 100000\n";
  EXPECT_EQ(CgroupProcessors(inner), 0u);
  std::ofstream(inner + "/cpu.max") << "250000 100000\n";
  EXPECT_EQ(CgroupProcessors(inner), 3u);
  std::ofstream(scratch.path() + "/outer/cpu.cfs_quota_us") << "50000\n";
  std::ofstream(scratch.path() + "/outer/cpu.cfs_period_us") << "100000\n";
  EXPECT_EQ(CgroupProcessors(inner), 1u);
  std::ofstream(scratch.path() + "/outer/cpu.cfs_quota_us") << "-1\n";
  EXPECT_EQ(CgroupProcessors(inner), 3u);
}

TEST(CgroupMemoryLimitTest, IsTheLeastOfTheGroupAndThoseAboveIt) {
  const ScratchDirectory scratch;
  const std::string inner = scratch.path() + "/outer/inner";
  std::filesystem::create_directories(inner);
  EXPECT_EQ(CgroupMemoryLimit(inner).bytes, ~std::uint64_t{0});
  std::ofstream(inner + "/memory.max") << "max\n";
  EXPECT_EQ(CgroupMemoryLimit(inner).bytes, ~std::uint64_t{0});
  std::ofstream(scratch.path() + "/outer/memory.max") << "1000000\n";
  EXPECT_EQ(CgroupMemoryLimit(inner + "/").bytes, 1'000'000u);
  EXPECT_EQ(CgroupMemoryLimit(inner).group, scratch.path() + "/outer");
  std::ofstream(inner + "/memory.max") << "5000000\n";
  EXPECT_EQ(CgroupMemoryLimit(inner).bytes, 1'000'000u);
  std::ofstream(inner + "/memory.limit_in_bytes") << "9223372036854771712\n";
  EXPECT_EQ(CgroupMemoryLimit(inner).bytes, 1'000'000u);
  std::ofstream(inner + "/memory.limit_in_bytes") << "400000\n";
  EXPECT_EQ(CgroupMemoryLimit(inner).bytes, 400'000u);
  EXPECT_EQ(CgroupMemoryLimit(inner).group, inner);
  EXPECT_EQ(CgroupMemoryLimit("").bytes, ~std::uint64_t{0});
  EXPECT_EQ(CgroupMemoryLimit("").group, "");
}

TEST(MemoryBytesTest, IsSomething) { EXPECT_GT(MemoryBytes(), 1u << 20); }

}  // namespace
}  // namespace bspnow
