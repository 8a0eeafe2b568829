#include "worker/host/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/unique_fd.h"

namespace {

constexpr char kAway[] = "/away";

}  // namespace

// As where a file server is away: the C library's is not asked.
extern "C" int chdir(const char* path) noexcept {
  while (strcmp(path, kAway) == 0) pause();
  return static_cast<int>(syscall(SYS_chdir, path));
}

namespace bspnow::worker {
namespace {

/// Where the program found itself, or why it did not begin.
absl::StatusOr<std::string> DirectoryOf(const std::string& wanted, const std::string& other,
                                        int patience_ms) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::InternalError("pipe");
  const UniqueFd output(ends[0]);
  UniqueFd theirs(ends[1]);
  const RaisedLimits limits;
  const std::vector<std::string> arguments = {"/bin/pwd"};
  const absl::StatusOr<pid_t> child = Spawn({.program = arguments[0],
                                             .arguments = arguments,
                                             .environment = {},
                                             .directory = wanted,
                                             .other_directory = other.c_str(),
                                             .standard = {theirs.get(), theirs.get(), theirs.get()},
                                             .link = theirs.get(),
                                             .memory_bytes = 0,
                                             .limits = limits,
                                             .patience_ms = patience_ms});
  theirs.Reset();
  char text[64] = {};
  const ssize_t n = read(output.get(), text, sizeof text - 1);  // Until nobody has it open.
  waitpid(-1, nullptr, 0);
  if (!child.ok()) return child.status();
  return std::string(text, n > 0 ? static_cast<std::size_t>(n) - 1 : 0);
}

TEST(SpawnTest, EntersTheOtherDirectoryWhereItCannotEnterTheFirst) {
  constexpr int kMs = 60'000;
  EXPECT_EQ(*DirectoryOf("/usr", "/etc", kMs), "/usr");
  EXPECT_EQ(*DirectoryOf("/no/such", "/etc", kMs), "/etc");
  EXPECT_EQ(DirectoryOf("/no/such", "", kMs).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(SpawnTest, GivesADirectoryUpThatDoesNotAnswer) {
  constexpr int kMs = 50;
  const absl::Status given_up = DirectoryOf(kAway, "/etc", kMs).status();
  EXPECT_EQ(given_up.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(given_up.message().find(kAway), std::string::npos) << given_up;
}

/// Why the program with these bytes does not begin.
std::string WhyNot(const std::string& bytes) {
  const std::string program = testing::TempDir() + "/program";
  std::ofstream(program, std::ios::binary) << bytes;
  EXPECT_EQ(chmod(program.c_str(), 0755), 0);
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const RaisedLimits limits;
  const absl::StatusOr<pid_t> child = Spawn({.program = program,
                                             .arguments = {program},
                                             .environment = {},
                                             .directory = "",
                                             .standard = {null.get(), null.get(), null.get()},
                                             .link = null.get(),
                                             .memory_bytes = 0,
                                             .limits = limits});
  EXPECT_EQ(child.status().code(), absl::StatusCode::kNotFound);
  return std::string(child.status().message()).substr(program.size());
}

TEST(SpawnTest, NamesTheInterpreterThatAScriptNeeds) {
  EXPECT_EQ(WhyNot("#! /no/such -x\n"), " needs /no/such, which is not there");
  EXPECT_EQ(WhyNot("#!/bin/sh\r\necho\r\n"),
            " needs /bin/sh\\r, which is not there; lines of a script end with \\n, not with "
            "\\r\\n as on Windows");
}

TEST(SpawnTest, NamesTheLoaderThatAProgramNeeds) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string name = "/lib64/ld-linux";
  const std::size_t loader = bytes.find(name);
  if (loader == std::string::npos) GTEST_SKIP() << "this test has no such loader";
  bytes.replace(loader, name.size(), "/lib65/ld-linux");
  EXPECT_TRUE(WhyNot(bytes).starts_with(" needs /lib65/ld-linux"));
}

}  // namespace
}  // namespace bspnow::worker
