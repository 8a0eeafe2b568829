#include "worker/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow::worker {
namespace {

class SettingsTest : public testing::Test {
 protected:
  std::optional<WorkerSettings> Read(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bsp-worker");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    return ReadSettings(static_cast<int>(pointers.size()), pointers.data(), exit_status_);
  }
  std::optional<WorkerSettings> ReadWith(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--coordinator", "head:7700",  "--name", "w1",
                                          "--state-dir",   "/var/lib/w1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Read(arguments);
  }

  int exit_status_ = -1;
};

TEST_F(SettingsTest, NeedsCoordinatorAndDirectory) {
  EXPECT_FALSE(Read({}).has_value());
  EXPECT_EQ(exit_status_, 2);
  EXPECT_FALSE(Read({"--coordinator", "head:7700", "--name", "w1"}).has_value());
  EXPECT_TRUE(ReadWith({}).has_value());
}

TEST_F(SettingsTest, IsNamedAsItsHost) {
  char name[65] = {};
  ASSERT_EQ(gethostname(name, sizeof name), 0);
  EXPECT_EQ(Read({"--coordinator", "head:7700", "--state-dir", "/var/lib/w"})->name, name);
}

TEST_F(SettingsTest, ListensOnLoopbackUnlessToldOtherwise) {
  EXPECT_EQ(ReadWith({})->listen, "127.0.0.1:0");
  EXPECT_EQ(ReadWith({})->exposure, Exposure::kLoopback);
  EXPECT_EQ(ReadWith({"--listen", "10.0.0.7"})->listen, "10.0.0.7:0");
  EXPECT_EQ(ReadWith({"--listen", "10.0.0.7:99"})->listen, "10.0.0.7:99");
  EXPECT_EQ(ReadWith({"--listen", "[::1]"})->listen, "[::1]:0");
  EXPECT_EQ(ReadWith({"--insecure"})->exposure, Exposure::kAnywhere);
  EXPECT_EQ(ReadWith({"--tls", "/tls"})->exposure, Exposure::kAnywhere);
  EXPECT_EQ(ReadWith({"--tls", "/tls"})->tls_dir, "/tls");
}

TEST_F(SettingsTest, TakesAPortForImagesThatAFirewallCanName) {
  EXPECT_EQ(ReadWith({})->images_port, 0);
  EXPECT_EQ(ReadWith({"--images-port", "7073"})->images_port, 7073);
  EXPECT_FALSE(ReadWith({"--images-port", "70730"}).has_value());
  EXPECT_EQ(exit_status_, 2);
}

TEST_F(SettingsTest, TakesLabelsOneByOne) {
  const auto settings = ReadWith({"--label", "rack=3", "--label", "gpu"});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->labels, (std::vector<std::string>{"rack=3", "gpu"}));
}

TEST_F(SettingsTest, SaysWhereImagesLieAndHowLongJobsOutliveTheCoordinator) {
  EXPECT_EQ(ReadWith({})->orphan_timeout_ms, 600'000u);
  EXPECT_EQ(ReadWith({"--orphan-timeout", "90s"})->orphan_timeout_ms, 90'000u);
  EXPECT_EQ(ReadWith({"--orphan-timeout", "2m"})->orphan_timeout_ms, 120'000u);
  EXPECT_EQ(ReadWith({"--orphan-timeout", "1d"})->orphan_timeout_ms, 86'400'000u);
  EXPECT_EQ(ReadWith({"--drain-timeout", "1:30"})->drain_timeout_ms, 90'000u);
  EXPECT_FALSE(ReadWith({"--orphan-timeout", "90"}).has_value());
  EXPECT_EQ(ReadWith({"--checkpoint-quota", "2GiB"})->checkpoint_quota, std::uint64_t{2} << 30);
  EXPECT_EQ(ReadWith({"--checkpoint-share", "/nfs"})->checkpoint_share, "/nfs");
  EXPECT_FALSE(ReadWith({"--checkpoint-share", "/nfs", "--checkpoint-dir", "/x"}).has_value());
}

TEST_F(SettingsTest, KeepsNoImagesOfAccountsOfAPoolWhereOthersShareThem) {
  EXPECT_FALSE(ReadWith({"--accounts", "pool:a,b", "--checkpoint-share", "/nfs"}).has_value());
  EXPECT_TRUE(ReadWith({"--accounts", "pool:a,b", "--checkpoint-dir", "/x"}).has_value());
  EXPECT_TRUE(ReadWith({"--accounts", "same", "--checkpoint-share", "/nfs"}).has_value());
}

// Restored processes begin in their job's directory, and open their images by these paths.
TEST_F(SettingsTest, RelativePathsAreThoseOfItsOwnWorkingDirectory) {
  const std::string here = std::filesystem::current_path().string() + "/";
  EXPECT_EQ(Read({"--coordinator", "head:1", "--name", "w", "--state-dir", "w"})->state_dir,
            here + "w");
  EXPECT_EQ(ReadWith({"--checkpoint-dir", "x"})->checkpoint_dir, here + "x");
  EXPECT_EQ(ReadWith({"--checkpoint-share", "x/y"})->checkpoint_share, here + "x/y");
  EXPECT_EQ(ReadWith({})->checkpoint_dir, "");
}

TEST_F(SettingsTest, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(ReadWith({"--slots", "0"}).has_value());
  EXPECT_FALSE(ReadWith({"--congestion", "vegas?"}).has_value());
  EXPECT_FALSE(ReadWith({"--integrity", "none"}).has_value());
  EXPECT_FALSE(ReadWith({"--unknown"}).has_value());
  EXPECT_FALSE(ReadWith({"extra"}).has_value());
}

TEST_F(SettingsTest, RefusesNamesAndAddressesThatTheCoordinatorWould) {
  for (const char* name : {"a b", "", "w/1"}) {
    EXPECT_FALSE(ReadWith({"--name", name}).has_value()) << name;
    EXPECT_EQ(exit_status_, 2);
  }
  EXPECT_FALSE(ReadWith({"--name", std::string(65, 'x')}).has_value());
  for (const char* address : {"head", "head:port", "head:99999"}) {
    EXPECT_FALSE(Read({"--coordinator", address, "--name", "w", "--state-dir", "/x"}).has_value());
    EXPECT_FALSE(ReadWith({"--advertise", address}).has_value()) << address;
    EXPECT_FALSE(ReadWith({"--metrics", address}).has_value()) << address;
  }
}

TEST_F(SettingsTest, NamesFileAndLineOfAWrongSetting) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/settings";
  std::ofstream(path) << "coordinator=head:7700\nnaem=w1\nstate-dir=/var/lib/w\n";
  testing::internal::CaptureStderr();
  EXPECT_FALSE(Read({"--config", path, "--name", "w1"}).has_value());
  const std::string complaint = testing::internal::GetCapturedStderr();
  EXPECT_EQ(complaint,
            "bsp-worker: " + path + ":2: there is no setting naem; see bsp-worker --help\n");
}

TEST_F(SettingsTest, SaysThatATextWithBlanksWantsQuotes) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/settings";
  std::ofstream(path) << "coordinator=head:7700\nstate-dir=/var/lib/w\nname=w 1\n";
  testing::internal::CaptureStderr();
  EXPECT_FALSE(Read({"--config", path}).has_value());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "bsp-worker: " + path +
                ":3: --name has 2 values; give one, in quotes if it has blanks; see bsp-worker "
                "--help\n");
}

TEST_F(SettingsTest, ReadsSizesWithUnits) {
  EXPECT_EQ(ReadWith({"--cache-bytes", "2GiB"})->cache_bytes, std::uint64_t{2} << 30);
}

TEST_F(SettingsTest, ATimeToDrainHasAUnit) {
  EXPECT_EQ(ReadWith({"--drain-timeout", "50s"})->drain_timeout_ms, 50'000u);
  EXPECT_FALSE(ReadWith({"--drain-timeout", "50"}).has_value());
}

TEST_F(SettingsTest, ReadsAFileAndPrefersTheCommandLine) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/settings";
  std::ofstream(path) << "coordinator=head:7700\nname=from-file\nstate-dir=/var/lib/w\nslots=3\n";
  const auto settings = Read({"--config", path, "--name", "from-line"});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->coordinator, "head:7700");
  EXPECT_EQ(settings->name, "from-line");
  EXPECT_EQ(settings->slots, 3u);
}

}  // namespace
}  // namespace bspnow::worker
