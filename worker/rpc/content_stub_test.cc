#include "worker/rpc/content_stub.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/units.h"
#include "files/file_chunks.h"
#include "worker/rpc/testing/silent_coordinator.h"
#include "worker/rpc/testing/taking_coordinator.h"

namespace bspnow::worker {
namespace {

using Texts = std::map<std::string, std::string>;

LeftFile MadeFile(const std::string& directory, const std::string& name, const std::string& text) {
  const std::string path = directory + "/" + name;
  std::ofstream(path) << text;
  return {.name = name, .bytes = text.size(), .mode = 0600, .changed_ns = 0, .path = path};
}

absl::StatusOr<files::OutgoingFile> Open(const LeftFile& file) {
  return files::OutgoingFile::Open(file.path, file.name);
}

// A thread that asked again for a minute would be one that clears no other job away.
TEST(ContentStubTest, AProfileIsOfferedOnce) {
  ContentStub stub({.address = "127.0.0.1:9", .login = {}, .credentials = RpcCredentials::Plain()});
  const std::uint64_t begin_ns = NowNs();
  const absl::Status stored = stub.StoreProfile(JobId{1}, 0, "profile");
  EXPECT_EQ(stored.code(), absl::StatusCode::kUnavailable) << stored;
  EXPECT_LT(NowNs() - begin_ns, 10 * kNsPerS);
}

// One of the few threads that move images and files waited until the coordinator's disk answered.
TEST(ContentStubTest, FilesAreNotOfferedForEverToACoordinatorWhoseDiskHangs) {
  const SilentCoordinator silent;
  ContentStub stub(
      {.address = silent.address(), .login = {}, .credentials = RpcCredentials::Plain()},
      std::chrono::milliseconds(50));
  const ScratchDirectory scratch;
  const LeftFile left = MadeFile(scratch.path(), "out", "text");
  const absl::Status stored =
      stub.StoreFiles(JobId{1}, {left}, {.open = Open, .unread = [](const auto&, const auto&) {}});
  EXPECT_EQ(stored.message(), "storing the files of a job: the coordinator takes no more of them");
  EXPECT_TRUE(absl::IsUnavailable(stored)) << "its disk may answer later";
}

// As one with a bad block is; here it is cut short once it has been opened. A part of it is at the
// coordinator by then.
TEST(ContentStubTest, AFileThatCannotBeReadCostsNoOther) {
  const TakingCoordinator coordinator;
  ContentStub stub(
      {.address = coordinator.address(), .login = {}, .credentials = RpcCredentials::Plain()});
  const ScratchDirectory scratch;
  std::vector<LeftFile> left = {
      MadeFile(scratch.path(), "first", "1"),
      MadeFile(scratch.path(), "bad", std::string(2 * files::kChunkBytesMax, 'x')),
      MadeFile(scratch.path(), TakingCoordinator::kLast, "3")};
  Texts unread;
  const auto open = [](const LeftFile& file) {
    auto opened = Open(file);
    if (file.name == "bad") std::filesystem::resize_file(file.path, files::kChunkBytesMax);
    return opened;
  };
  const absl::Status stored = stub.StoreFiles(
      JobId{1}, left, {.open = open, .unread = [&](const LeftFile& file, const absl::Status& why) {
                         unread[file.name] = std::string(why.message());
                       }});
  EXPECT_EQ(stored, absl::OkStatus());
  EXPECT_EQ(coordinator.files(), Texts({{"first", "1"}, {"last", "3"}}));
  EXPECT_EQ(unread, Texts({{"bad", "file bad changed while it was sent"}}));
}

TEST(ContentStubTest, HolesAreSentAsSuchToACoordinatorThatTakesThem) {
  using Holes = TakingCoordinator::Holes;
  constexpr std::uint64_t kBytes = 4 * files::kChunkBytesMax;
  for (const Holes holes : {Holes::kUnknown, Holes::kTaken}) {
    const TakingCoordinator coordinator(holes);
    ContentStub stub(
        {.address = coordinator.address(), .login = {}, .credentials = RpcCredentials::Plain()});
    const ScratchDirectory scratch;
    const LeftFile file = MadeFile(scratch.path(), TakingCoordinator::kLast, "text");
    std::filesystem::resize_file(file.path, kBytes);
    if (!Open(file)->sparse()) GTEST_SKIP() << "no file has holes here";
    const absl::Status stored = stub.StoreFiles(
        JobId{1}, {file}, {.open = Open, .unread = [](const auto&, const auto&) {}});
    EXPECT_EQ(stored, absl::OkStatus());
    std::string text = "text";
    text.resize(kBytes);
    EXPECT_TRUE(coordinator.files()[TakingCoordinator::kLast] == text);
    EXPECT_EQ(coordinator.hole_bytes() >= kBytes / 2, holes == Holes::kTaken);
    EXPECT_EQ(coordinator.hole_bytes() == 0, holes == Holes::kUnknown);
  }
}

// On a dying disk each one had all files before it sent anew.
TEST(ContentStubTest, ManyFilesThatCannotBeReadAreNotFoundOneByOne) {
  const TakingCoordinator coordinator;
  ContentStub stub(
      {.address = coordinator.address(), .login = {}, .credentials = RpcCredentials::Plain()});
  const ScratchDirectory scratch;
  std::vector<LeftFile> left = {MadeFile(scratch.path(), "first", "1")};
  Texts bad;
  for (int i = 0; i < 20; ++i) {
    left.push_back(MadeFile(scratch.path(), "bad" + std::to_string(i), "x"));
    bad[left.back().name] = "file " + left.back().name + " changed while it was sent";
  }
  left.push_back(MadeFile(scratch.path(), TakingCoordinator::kLast, "3"));
  Texts unread;
  const auto open = [&bad](const LeftFile& file) {
    if (!bad.contains(file.name)) return Open(file);
    std::filesystem::resize_file(file.path, 2 * files::kChunkBytesMax);
    auto opened = Open(file);
    std::filesystem::resize_file(file.path, files::kChunkBytesMax);
    return opened;
  };
  const absl::Status stored = stub.StoreFiles(
      JobId{1}, left, {.open = open, .unread = [&](const LeftFile& file, const absl::Status& why) {
                         unread[file.name] = std::string(why.message());
                       }});
  EXPECT_EQ(stored, absl::OkStatus());
  EXPECT_EQ(coordinator.files(), Texts({{"first", "1"}, {TakingCoordinator::kLast, "3"}}));
  EXPECT_EQ(unread, bad);
  EXPECT_LE(coordinator.calls(), 4) << "three to find some, and one after all were read";
}

}  // namespace
}  // namespace bspnow::worker
