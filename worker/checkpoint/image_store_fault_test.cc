// Disks that fail: BUILD.bazel sets BSPNOW_FAILPOINTS for this test, and each place fails once.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/disk_room.h"
#include "base/testing/scratch_directory.h"
#include "worker/checkpoint/image_reception.h"
#include "worker/checkpoint/image_store.h"
#include "worker/checkpoint/testing/image_fixture.h"

namespace bspnow::worker {
namespace {

constexpr JobId kJob{17};

absl::StatusOr<std::unique_ptr<ImageReception>> Receive(ImageStore& store, const std::string& name,
                                                        std::uint64_t bytes) {
  auto reception = std::make_unique<ImageReception>(store, kJob, name, Durability::kSynced);
  absl::Status begun = reception->Begin({.name = name, .bytes = bytes, .mode = 0});
  if (!begun.ok()) return begun;
  return reception;
}

std::unique_ptr<ImageStore> OpenAt(const std::string& root) {
  auto store =
      ImageStore::Open({.root = root, .quota_bytes = 0, .sharing = ImageStore::Sharing::kOwn});
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

absl::Status Take(ImageStore& store, std::uint64_t checkpoint) {
  const std::string name = ImageName(checkpoint, Pid{0});
  mkdir(store.DirectoryOf(kJob).c_str(), 0700);
  WriteFile(store.PathOf(kJob, name + ".new"),
            Encode({.job = kJob, .checkpoint = checkpoint, .base = 0, .pid = 0, .texts = {}}));
  return store.Settle(kJob, checkpoint, {name});
}

/// Each time the store goes through sync, synced, before_rename, renamed, stored; the n-th of them
/// fails the n-th time, and then everything is well.
TEST(ImageStoreFaultTest, AFailureAtAnyStepLeavesNothingThatCouldBeTrusted) {
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  const auto store = OpenAt(scratch.path());
  for (const char* step : {"before_sync", "synced", "before_rename", "renamed", "stored"}) {
    const absl::Status taken = Take(*store, 1);
    EXPECT_EQ(taken.message(),
              std::string("failpoint worker.image.") + step + ": Input/output error")
        << taken;
    EXPECT_TRUE(std::filesystem::is_empty(store->DirectoryOf(kJob))) << step;
  }
  EXPECT_TRUE(Take(*store, 2).ok());
  EXPECT_EQ(store->Names(kJob)->size(), 1u);

  // The next sync fails, too: that of a file from another node.
  const std::string bytes =
      Encode({.job = kJob, .checkpoint = 2, .base = 0, .pid = 1, .texts = {}});
  auto reception = Receive(*store, "c2.p1", bytes.size());
  ASSERT_TRUE((*reception)->Append(bytes).ok());
  const absl::Status kept = (*reception)->Finish();
  EXPECT_EQ(kept.code(), absl::StatusCode::kResourceExhausted) << kept;
  reception->reset();
  EXPECT_EQ(store->Names(kJob)->size(), 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(store->DirectoryOf(kJob)), {}), 1);
}

/// A sharer has died when it had put a text aside, and an image needs it: the next one that looks
/// for texts to remove puts it back.
TEST(ImageStoreFaultTest, ATextThatADeadSharerPutAsideIsPutBack) {
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  auto store = ImageStore::Open(
      {.root = scratch.path(), .quota_bytes = 0, .sharing = ImageStore::Sharing::kShared});
  ASSERT_TRUE(store.ok());
  const std::string text = (*store)->PathOf(kJob, TextNameOf("text"));
  mkdir((*store)->DirectoryOf(kJob).c_str(), 0700);
  WriteFile(text + ".aside", "text");
  WriteFile((*store)->PathOf(kJob, ImageName(9, Pid{0})),
            Encode({.job = kJob, .checkpoint = 9, .base = 0, .pid = 0, .texts = {"text"}}));
  (*store)->Keep(kJob, {9}, (*store)->last_list());
  EXPECT_TRUE(std::filesystem::exists(text));
  EXPECT_FALSE(std::filesystem::exists(text + ".aside"));
}

/// What is not listed would be taken for lost, and what it needs for idle.
TEST(ImageStoreFaultTest, ImagesThatCannotBeListedAreNotLeftOut) {
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  const auto store = OpenAt(scratch.path());
  ASSERT_TRUE(Take(*store, 3).ok());
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto names = store->Names(kJob);
  const auto listed = store->List();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(names.ok());
  EXPECT_FALSE(listed.ok());
  ASSERT_TRUE(store->List().ok());
  EXPECT_EQ(store->List()->size(), 1u);
  EXPECT_TRUE(store->Names(JobId{99})->empty());
}

/// A file system of its own, where this user may mount one.
TEST(ImageStoreFaultTest, FullFileSystemGivesUpTheFileAndSaysSo) {
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=64k,mode=700") != 0)
    GTEST_SKIP() << "only root mounts";
  {
    const auto store = OpenAt(scratch.path());
    EXPECT_EQ(store->CheckRoom(100'000).code(), absl::StatusCode::kResourceExhausted);
    auto reception = Receive(*store, "c1.p0", 40'000);
    ASSERT_TRUE(reception.ok()) << reception.status();
    WriteFile(scratch.path() + "/of-somebody-else", std::string(40'000, 'x'));
    const absl::Status put = (*reception)->Append(std::string(40'000, 'x'));
    EXPECT_EQ(put.code(), absl::StatusCode::kResourceExhausted) << put;
    reception->reset();
    EXPECT_TRUE(std::filesystem::is_empty(store->DirectoryOf(kJob)));
  }
  umount2(scratch.path().c_str(), MNT_DETACH);
}

// Else the disk watch would end the job whose files take most, for what its images take.
TEST(ImageStoreFaultTest, ACheckpointLeavesWhatIsToStayFree) {
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=1m,mode=700") != 0)
    GTEST_SKIP() << "only root mounts";
  {
    const auto store = OpenAt(scratch.path());
    const DiskRoom room = *RoomAt(scratch.path());
    ASSERT_GT(room.reserve_bytes(), 0u);
    EXPECT_TRUE(store->CheckRoom(room.free_bytes - room.reserve_bytes()).ok());
    EXPECT_EQ(store->CheckRoom(room.free_bytes - room.reserve_bytes() + 1).code(),
              absl::StatusCode::kResourceExhausted);
    WriteFile(scratch.path() + "/of-somebody-else",
              std::string(room.free_bytes - room.reserve_bytes() / 2, 'x'));
    EXPECT_EQ(Take(*store, 1).code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(store->Names(kJob)->empty());
  }
  umount2(scratch.path().c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace bspnow::worker
