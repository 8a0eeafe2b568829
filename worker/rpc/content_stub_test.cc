#include "worker/rpc/content_stub.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/units.h"
#include "files/file_chunks.h"
#include "worker/rpc/testing/silent_coordinator.h"

namespace bspnow::worker {
namespace {

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
  const std::string path = scratch.path() + "/out";
  std::ofstream(path) << "text";
  const LeftFile left{.name = "out", .bytes = 4, .mode = 0600, .changed_ns = 0, .path = path};
  const absl::Status stored = stub.StoreFiles(JobId{1}, {left}, [](const LeftFile& file) {
    return files::OutgoingFile::Open(file.path, file.name);
  });
  EXPECT_EQ(stored.message(), "storing the files of a job: the coordinator takes no more of them");
  EXPECT_TRUE(absl::IsUnavailable(stored)) << "its disk may answer later";
}

}  // namespace
}  // namespace bspnow::worker
