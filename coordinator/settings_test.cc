#include "coordinator/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <variant>
#include <vector>
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

std::variant<CoordinatorSettings, SettingsEnd> Read(std::vector<const char*> words) {
  words.insert(words.begin(), "bsp-coordinator");
  return ReadSettings(static_cast<int>(words.size()), words.data());
}

int EndOf(const std::vector<const char*>& words) {
  const auto read = Read(words);
  const auto* end = std::get_if<SettingsEnd>(&read);
  return end == nullptr ? -1 : end->exit_status;
}

TEST(SettingsTest, ReadsFlags) {
  const auto read = Read({"--listen", "127.0.0.1:7070", "--state-dir", "/x", "--metrics",
                          "127.0.0.1:0", "--max-log-bytes", "4MB"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(read));
  const auto& settings = std::get<CoordinatorSettings>(read);
  EXPECT_EQ(settings.listen.port, 7070);
  EXPECT_EQ(settings.barrier_listen.host, "127.0.0.1");
  EXPECT_EQ(settings.barrier_listen.port, 0);
  EXPECT_EQ(settings.state_dir, "/x");
  EXPECT_TRUE(settings.metrics.has_value());
  EXPECT_EQ(settings.log_bytes_max, 4u << 20);
  EXPECT_EQ(settings.keep_days, 30u);
  EXPECT_EQ(settings.checkpoint_mtbf_ms, 86'400'000u);
  EXPECT_EQ(settings.checkpoint_overhead, 0.05);
  EXPECT_EQ(settings.checkpoint_copies, 1u);
  EXPECT_FALSE(settings.data_tls);
}

TEST(SettingsTest, BarriersListenAtTheHostOfListenUnlessTheirsIsNamed) {
  const auto barrier_of = [](const char* listen, const char* barrier) {
    const auto read = Read({"--listen", listen, "--state-dir", "/x", "--barrier-listen", barrier});
    const auto* settings = std::get_if<CoordinatorSettings>(&read);
    return settings == nullptr ? "" : settings->barrier_listen.ToString();
  };
  EXPECT_EQ(barrier_of("127.0.0.1:7070", "7071"), "127.0.0.1:7071");
  EXPECT_EQ(barrier_of("[::1]:7070", "7071"), "[::1]:7071");
  EXPECT_EQ(barrier_of("127.0.0.1:7070", "127.0.0.2:7071"), "127.0.0.2:7071");
  EXPECT_EQ(barrier_of("127.0.0.1:7070", "70710"), "");
}

TEST(SettingsTest, TakesOnlyFormatsThatThereAre) {
  const auto read = Read({"--listen", "127.0.0.1:1", "--state-dir", "/x", "--log-format", "json"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(read));
  EXPECT_EQ(std::get<CoordinatorSettings>(read).log_format, "json");
  EXPECT_EQ(EndOf({"--listen", "127.0.0.1:1", "--state-dir", "/x", "--log-format", "xml"}), 2);
}

TEST(SettingsTest, EncryptsDataAlsoWithoutCertificates) {
  const auto read = Read({"--listen", "127.0.0.1:7070", "--state-dir", "/x", "--data-tls"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(read));
  EXPECT_TRUE(std::get<CoordinatorSettings>(read).data_tls);
}

TEST(SettingsTest, ReadsHowCheckpointsAreTaken) {
  const auto read = Read({"--listen", "127.0.0.1:7070", "--state-dir", "/x", "--checkpoint-mtbf",
                          "90min", "--checkpoint-overhead", "0.1", "--checkpoint-copies", "2"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(read));
  const auto& settings = std::get<CoordinatorSettings>(read);
  EXPECT_EQ(settings.checkpoint_mtbf_ms, 5'400'000u);
  EXPECT_EQ(settings.checkpoint_overhead, 0.1);
  EXPECT_EQ(settings.checkpoint_copies, 2u);
  EXPECT_EQ(EndOf({"--listen", "127.0.0.1:1", "--state-dir", "/x", "--checkpoint-mtbf", "0"}), 2);
  EXPECT_EQ(EndOf({"--listen", "127.0.0.1:1", "--state-dir", "/x", "--checkpoint-overhead", "2"}),
            2);
}

TEST(SettingsTest, ReadsQuotas) {
  const auto read = Read({"--listen", "127.0.0.1:1", "--state-dir", "/x", "--user-slots", "8",
                          "--user-jobs", "100", "--user-bytes", "2GB"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(read));
  EXPECT_EQ(std::get<CoordinatorSettings>(read).quotas.slots, 8u);
  EXPECT_EQ(std::get<CoordinatorSettings>(read).quotas.jobs, 100u);
  EXPECT_EQ(std::get<CoordinatorSettings>(read).quotas.bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(EndOf({"--listen", "127.0.0.1:1", "--state-dir", "/x", "--user-jobs", "0"}), 2);
}

TEST(SettingsTest, ReadsFileAndLetsFlagsWin) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  std::ofstream(path) << "listen = \"127.0.0.1:7070\"\nstate-dir = \"/x\"\nkeep-days = 3\n";
  const auto read = Read({"--config", path.c_str(), "--state-dir", "/y"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(read));
  const auto& settings = std::get<CoordinatorSettings>(read);
  EXPECT_EQ(settings.listen.port, 7070);
  EXPECT_EQ(settings.state_dir, "/y");
  EXPECT_EQ(settings.keep_days, 3u);
}

TEST(SettingsTest, WhoLooksAfterTheJournalNeedsNoAddress) {
  const auto check = Read({"--state-dir", "/x", "--check"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(check));
  EXPECT_EQ(std::get<CoordinatorSettings>(check).task, CoordinatorTask::kCheck);
  const auto rebuild = Read({"--state-dir", "/x", "--rebuild", "--cluster", "c1"});
  ASSERT_TRUE(std::holds_alternative<CoordinatorSettings>(rebuild));
  EXPECT_EQ(std::get<CoordinatorSettings>(rebuild).task, CoordinatorTask::kRebuild);
  EXPECT_EQ(std::get<CoordinatorSettings>(rebuild).cluster, "c1");
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--rebuild", "--check"}), 2);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--check", "--cluster", "c1"}), 2);
}

TEST(SettingsTest, RefusesUnknownNamesInTheFile) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  std::ofstream(path) << "listen = \"127.0.0.1:7070\"\nstate-dir = \"/x\"\nkeep-dais = 3\n";
  EXPECT_EQ(EndOf({"--config", path.c_str()}), 2);
}

// What is printed for a wrong command line.
std::string ComplaintAbout(const std::vector<const char*>& words) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(EndOf(words), 2);
  return testing::internal::GetCapturedStderr();
}

TEST(SettingsTest, SaysWhoComplainsOfWhat) {
  constexpr char kSeeHelp[] = "; see bsp-coordinator --help\n";
  EXPECT_EQ(ComplaintAbout({"--state-dir", "/x"}),
            std::string("bsp-coordinator: --listen is required") + kSeeHelp);
  EXPECT_EQ(ComplaintAbout({"--frobnicate"}),
            std::string("bsp-coordinator: unknown option --frobnicate") + kSeeHelp);
  EXPECT_EQ(ComplaintAbout({"--config", "/none"}),
            std::string("bsp-coordinator: --config: cannot read /none") + kSeeHelp);
}

TEST(SettingsTest, SaysHowASizeIsWritten) {
  EXPECT_EQ(ComplaintAbout({"--state-dir", "/x", "--max-log-bytes", "4X"}),
            "bsp-coordinator: --max-log-bytes: x is no unit of a size; write it as in 500M, 4G or "
            "1T; see bsp-coordinator --help\n");
}

TEST(SettingsTest, NamesFileAndLineOfAWrongSetting) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  std::ofstream(path) << "listen = 127.0.0.1:7070\n# keep-days\n  keep-days = soon\n";
  const std::vector<const char*> words = {"--config", path.c_str(), "--state-dir", "/x"};
  EXPECT_EQ(ComplaintAbout(words).find("bsp-coordinator: " + path + ":3: "), 0u)
      << ComplaintAbout(words);
  std::ofstream(path) << "listen = 127.0.0.1:7070\nkeep-dais = 3\n";
  EXPECT_EQ(
      ComplaintAbout(words).find("bsp-coordinator: " + path + ":2: there is no setting keep-dais;"),
      0u)
      << ComplaintAbout(words);
  std::ofstream(path) << "listen = 127.0.0.1:7070\n[limits]\nkeep-days = 3\n";
  EXPECT_EQ(ComplaintAbout(words).find("bsp-coordinator: " + path +
                                       ":2: settings have no sections; take out [limits];"),
            0u)
      << ComplaintAbout(words);
  // The command line's is wrong, the file's is not.
  std::ofstream(path) << "listen = 127.0.0.1:7070\nkeep-days = 3\n";
  EXPECT_EQ(ComplaintAbout({"--config", path.c_str(), "--state-dir", "/x", "--keep-days", "soon"})
                .find(path),
            std::string::npos);
}

TEST(SettingsTest, RefusesReachableAddressesUnlessInsecure) {
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "127.0.0.1:1", "--web", "0.0.0.0:1"}), 2);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "127.0.0.1:1", "--metrics", "0.0.0.0:1"}), 2);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "0.0.0.0:1"}), 2);
  EXPECT_EQ(
      EndOf({"--state-dir", "/x", "--listen", "127.0.0.1:1", "--barrier-listen", "0.0.0.0:1"}), 2);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "0.0.0.0:1", "--insecure"}), -1);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "127.0.0.1:1", "--metrics", "0.0.0.0:1",
                   "--insecure"}),
            -1);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "0.0.0.0:1", "--tls", "/tls"}), -1);
}

// Status 2 is for what is wrong for good: then systemd does not try again.
TEST(SettingsTest, ANameThatDoesNotResolveMayDoSoLater) {
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "nobody.invalid:1"}), 1);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "127.0.0.1:1", "--web", "nobody.invalid:1"}),
            1);
}

TEST(SettingsTest, RefusesWhatIsIncompleteOrNoAddress) {
  EXPECT_EQ(EndOf({"--listen", "127.0.0.1:1"}), 2);
  EXPECT_EQ(EndOf({"--state-dir", "/x"}), 2);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "127.0.0.1"}), 2);
  EXPECT_EQ(EndOf({"--state-dir", "/x", "--listen", "127.0.0.1:1", "--metrics", "x"}), 2);
  EXPECT_EQ(EndOf({"--help"}), 0);
}

}  // namespace
}  // namespace bspnow::coordinator
