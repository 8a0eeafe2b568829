#include "worker/job/blob_cache.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <thread>

#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "files/sha256.h"

namespace bspnow::worker {
namespace {

// Of "one", "two" and "three".
constexpr char kOne[] = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
constexpr char kTwo[] = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3";
constexpr char kThree[] = "8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f";

class BlobCacheTest : public testing::Test {
 protected:
  std::unique_ptr<BlobCache> OpenCache(std::uint64_t bytes_max) {
    auto cache = BlobCache::Open(
        root_ + "/cache", bytes_max,
        [this](const std::string& hash, const files::BlobStore& into, OpenCalls& calls) {
          fetches_ += 1;
          if (absl::Status before = before_fetch_(calls); !before.ok()) return before;
          std::string text = "something else";
          if (hash == kOne) text = "one";
          if (hash == kTwo) text = "two";
          if (hash == kThree && !damage_) text = "three";
          files::BlobSink upload(into, Durability::kCached);
          absl::Status put = upload.Begin({.name = hash, .bytes = text.size(), .mode = 0});
          if (put.ok()) put = upload.Append(text);
          if (put.ok()) put = upload.Finish();
          after_fetch_();
          return put;
        });
    EXPECT_TRUE(cache.ok());
    return std::move(*cache);
  }
  bool Keeps(const char* hash) { return std::filesystem::exists(root_ + "/cache/" + hash); }
  std::string Fresh() { return root_ + "/copy" + std::to_string(++copies_); }

  const ScratchDirectory scratch_;
  const std::string root_ = scratch_.path();
  OpenCalls calls_;
  std::function<absl::Status(OpenCalls&)> before_fetch_ = [](OpenCalls&) {
    return absl::OkStatus();
  };
  std::function<void()> after_fetch_ = [] {};
  int fetches_ = 0;
  int copies_ = 0;
  bool damage_ = false;
};

TEST_F(BlobCacheTest, FetchesAgainWhatAnEarlierRunLeftTorn) {
  ASSERT_TRUE(OpenCache(1000)->CopyTo(kOne, Fresh(), 0640, calls_).ok());
  std::filesystem::resize_file(root_ + "/cache/" + kOne, 0);  // As a power cut may do.
  const auto cache = OpenCache(1000);
  for (int i = 0; i < 2; ++i) {
    const std::string copy = Fresh();
    ASSERT_TRUE(cache->CopyTo(kOne, copy, 0640, calls_).ok());
    EXPECT_EQ(FileText(copy), "one");
  }
  EXPECT_EQ(fetches_, 2);
  EXPECT_EQ(cache->bytes(), 3u);
}

TEST_F(BlobCacheTest, FetchesAgainWhatSomebodyTookAway) {
  const auto cache = OpenCache(1000);
  ASSERT_TRUE(cache->CopyTo(kOne, Fresh(), 0640, calls_).ok());
  const std::function<void()> harms[] = {
      [this] { std::filesystem::remove(root_ + "/cache/" + kOne); },
      [this] { std::filesystem::remove_all(root_ + "/cache"); },
      [this] { std::filesystem::resize_file(root_ + "/cache/" + kOne, 2); },
      [this] { std::ofstream(root_ + "/cache/" + kOne) << "onf"; }};
  for (const auto& harm : harms) {
    harm();
    const std::string copy = Fresh();
    const absl::Status copied = cache->CopyTo(kOne, copy, 0640, calls_);
    ASSERT_TRUE(copied.ok()) << copied;
    EXPECT_EQ(FileText(copy), "one");
    EXPECT_EQ(cache->bytes(), 3u);
  }
  EXPECT_EQ(fetches_, 5);
}

// A disk that damages whatever it gets. It is not the coordinator that has lost the content.
TEST_F(BlobCacheTest, GivesUpAContentThatIsDamagedAgainAndAgain) {
  const auto cache = OpenCache(1000);
  ASSERT_TRUE(cache->CopyTo(kOne, Fresh(), 0640, calls_).ok());
  std::ofstream(root_ + "/cache/" + kOne) << "onf";
  after_fetch_ = [this] { std::ofstream(root_ + "/cache/" + kOne) << "onf"; };
  const std::string copy = Fresh();
  const absl::Status copied = cache->CopyTo(kOne, copy, 0640, calls_);
  EXPECT_TRUE(absl::IsInternal(copied)) << copied;
  EXPECT_FALSE(std::filesystem::exists(copy));
}

TEST_F(BlobCacheTest, FetchesAContentOnce) {
  const auto cache = OpenCache(1000);
  const std::string first = Fresh();
  const std::string second = Fresh();
  ASSERT_TRUE(cache->CopyTo(kOne, first, 0640, calls_).ok());
  ASSERT_TRUE(cache->CopyTo(kOne, second, 0755, calls_).ok());
  EXPECT_EQ(FileText(first), "one");
  EXPECT_EQ(FileText(second), "one");
  EXPECT_EQ(fetches_, 1);
  EXPECT_EQ(access(second.c_str(), X_OK), 0);
  struct stat status;
  ASSERT_EQ(stat(first.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(BlobCacheTest, CopiesToAnotherFileSystem) {
  const auto cache = OpenCache(1000);
  const ScratchDirectory elsewhere = ScratchDirectory::InMemory();
  ASSERT_TRUE(cache->CopyTo(kOne, elsewhere.path() + "/copy", 0644, calls_).ok());
  EXPECT_EQ(FileText(elsewhere.path() + "/copy"), "one");
}

TEST_F(BlobCacheTest, ACopyIsTheJobsOwn) {
  const auto cache = OpenCache(1000);
  const std::string copy = Fresh();
  ASSERT_TRUE(cache->CopyTo(kOne, copy, 0644, calls_).ok());
  std::ofstream(copy) << "changed";
  const std::string again = Fresh();
  ASSERT_TRUE(cache->CopyTo(kOne, again, 0644, calls_).ok());
  EXPECT_EQ(FileText(again), "one");
}

TEST_F(BlobCacheTest, RefusesAContentWithAnotherHash) {
  const auto cache = OpenCache(1000);
  damage_ = true;
  EXPECT_FALSE(cache->CopyTo(kThree, Fresh(), 0644, calls_).ok());
  EXPECT_FALSE(Keeps(kThree));
  EXPECT_EQ(cache->bytes(), 0u);
  damage_ = false;
  EXPECT_TRUE(cache->CopyTo(kThree, Fresh(), 0644, calls_).ok());
}

TEST_F(BlobCacheTest, AStopEndsAFetchAndWhoWaitsForThatOfAnotherWithoutHarmToThird) {
  const auto cache = OpenCache(1000);
  std::latch begun(1);
  before_fetch_ = [&](OpenCalls& calls) {
    begun.count_down();
    while (!calls.stopping()) calls.Pause(std::chrono::hours(1));
    return absl::CancelledError("stopped");
  };
  OpenCalls first;
  std::jthread fetch(
      [&] { EXPECT_TRUE(absl::IsCancelled(cache->CopyTo(kOne, root_ + "/first", 0644, first))); });
  begun.wait();
  OpenCalls second;
  std::jthread stop([&] { second.Stop(); });
  EXPECT_TRUE(absl::IsCancelled(cache->CopyTo(kOne, Fresh(), 0644, second)));
  first.Stop();
  fetch.join();
  before_fetch_ = [](OpenCalls&) { return absl::OkStatus(); };
  EXPECT_TRUE(cache->CopyTo(kOne, Fresh(), 0644, calls_).ok());
  EXPECT_TRUE(absl::IsCancelled(cache->CopyTo(kOne, Fresh(), 0644, first)));  // Nor a copy.
}

// Else the disk would hold more than is known of, for as long as the worker runs.
TEST_F(BlobCacheTest, AStopWhileAContentIsLookedAtForgetsNothing) {
  ASSERT_TRUE(OpenCache(1000)->CopyTo(kOne, Fresh(), 0644, calls_).ok());
  const auto cache = OpenCache(1000);
  OpenCalls stopped;
  stopped.Stop();
  EXPECT_TRUE(absl::IsCancelled(cache->CopyTo(kOne, Fresh(), 0644, stopped)));
  EXPECT_EQ(cache->bytes(), 3u);
  ASSERT_TRUE(cache->CopyTo(kOne, Fresh(), 0644, calls_).ok());
  EXPECT_EQ(cache->bytes(), 3u);
  EXPECT_EQ(fetches_, 1);
}

TEST_F(BlobCacheTest, RefusesWhatIsNoHash) {
  const auto cache = OpenCache(1000);
  EXPECT_FALSE(cache->CopyTo("../../etc/passwd", Fresh(), 0644, calls_).ok());
  EXPECT_FALSE(cache->CopyTo("", Fresh(), 0644, calls_).ok());
  EXPECT_EQ(fetches_, 0);
}

TEST_F(BlobCacheTest, DropsTheLeastRecentlyUsed) {
  const auto cache = OpenCache(8);
  ASSERT_TRUE(cache->CopyTo(kOne, Fresh(), 0644, calls_).ok());
  ASSERT_TRUE(cache->CopyTo(kTwo, Fresh(), 0644, calls_).ok());
  ASSERT_TRUE(cache->CopyTo(kOne, Fresh(), 0644, calls_).ok());
  ASSERT_TRUE(cache->CopyTo(kThree, Fresh(), 0644, calls_).ok());
  EXPECT_TRUE(Keeps(kOne));
  EXPECT_FALSE(Keeps(kTwo));
  EXPECT_TRUE(Keeps(kThree));
  EXPECT_EQ(cache->bytes(), 8u);
}

TEST_F(BlobCacheTest, TakesOverWhatAnEarlierRunKept) {
  ASSERT_TRUE(OpenCache(1000)->CopyTo(kOne, Fresh(), 0644, calls_).ok());
  std::ofstream(root_ + "/cache/" + kTwo + ".unfinished") << "tw";
  const auto cache = OpenCache(1000);
  EXPECT_EQ(cache->bytes(), 3u);
  ASSERT_TRUE(cache->CopyTo(kOne, Fresh(), 0644, calls_).ok());
  EXPECT_EQ(fetches_, 1);
  EXPECT_FALSE(std::filesystem::exists(root_ + "/cache/" + kTwo + ".unfinished"));
}

// --cache-bytes may be more than the disk has.
TEST_F(BlobCacheTest, IdleContentsGiveTheirRoomToOneThatNeedsIt) {
  const auto cache = OpenCache(1000);
  for (const char* const hash : {kOne, kTwo})
    ASSERT_TRUE(cache->CopyTo(hash, Fresh(), 0640, calls_).ok());
  before_fetch_ = [this](OpenCalls&) {
    return Keeps(kOne) ? absl::ErrnoToStatus(ENOSPC, "writing") : absl::OkStatus();
  };
  EXPECT_TRUE(cache->CopyTo(kThree, Fresh(), 0640, calls_).ok());
  EXPECT_FALSE(Keeps(kOne));
  EXPECT_EQ(cache->bytes(), 5u) << "all of them are idle";
}

TEST_F(BlobCacheTest, SaysWhatElseTakesRoomWhenNothingIsIdle) {
  const auto cache = OpenCache(1000);
  before_fetch_ = [](OpenCalls&) { return absl::ErrnoToStatus(EDQUOT, "writing"); };
  const absl::Status copied = cache->CopyTo(kOne, Fresh(), 0640, calls_);
  EXPECT_EQ(copied.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(copied.message().find("--cache-bytes"), std::string::npos) << copied;
  EXPECT_EQ(fetches_, 1);
}

TEST_F(BlobCacheTest, IdleContentsStayWhenItIsNotRoomThatLacks) {
  const auto cache = OpenCache(1000);
  ASSERT_TRUE(cache->CopyTo(kOne, Fresh(), 0640, calls_).ok());
  for (const absl::Status& other :
       {absl::ErrnoToStatus(EMFILE, "making a file"), absl::ErrnoToStatus(ENOMEM, "writing"),
        absl::ResourceExhaustedError("content has too many bytes")}) {
    before_fetch_ = [&other](OpenCalls&) { return other; };
    EXPECT_EQ(cache->CopyTo(kTwo, Fresh(), 0640, calls_), other);
    EXPECT_TRUE(Keeps(kOne)) << other;
  }
  EXPECT_EQ(fetches_, 4) << "each of them once";
}

// A job that runs would have to end for the room that it would take.
TEST_F(BlobCacheTest, ACopyLeavesFreeWhatIsToStayFree) {
  if (mount("tmpfs", root_.c_str(), "tmpfs", 0, "size=20m") != 0)
    GTEST_SKIP() << "only root mounts";
  {
    const std::string content(10'200'000, 'x');  // As much would be left, but for the reserve.
    files::Sha256 sum;
    sum.Add(content);
    const std::string hash = sum.Hexadecimal();
    std::filesystem::create_directories(root_ + "/cache");
    std::ofstream(root_ + "/cache/" + hash) << content;
    const auto cache = OpenCache(std::uint64_t{1} << 30);
    const std::string copy = Fresh();
    const absl::Status copied = cache->CopyTo(hash, copy, 0640, calls_);
    EXPECT_EQ(copied.code(), absl::StatusCode::kResourceExhausted) << copied;
    EXPECT_NE(copied.message().find("stay free"), std::string::npos) << copied;
    EXPECT_FALSE(std::filesystem::exists(copy));
    EXPECT_TRUE(cache->CopyTo(kOne, Fresh(), 0640, calls_).ok()) << "it is small";
  }
  umount2(root_.c_str(), MNT_DETACH);
}

/// A file system of its own, where this user may mount one.
TEST_F(BlobCacheTest, IdleContentsGiveTheirRoomToACopy) {
  if (mount("tmpfs", root_.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "only root mounts";
  {
    const auto cache = OpenCache(1000);
    for (const char* const hash : {kOne, kTwo})
      ASSERT_TRUE(cache->CopyTo(hash, Fresh(), 0640, calls_).ok());
    std::ofstream(root_ + "/full") << std::string(64 << 10, 'x');
    const std::string copy = Fresh();
    const absl::Status copied = cache->CopyTo(kTwo, copy, 0640, calls_);
    EXPECT_TRUE(copied.ok()) << copied;
    EXPECT_EQ(FileText(copy), "two");
    EXPECT_FALSE(Keeps(kOne));
    EXPECT_EQ(cache->CopyTo(kTwo, Fresh(), 0640, calls_).code(),
              absl::StatusCode::kResourceExhausted);
  }
  umount2(root_.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace bspnow::worker
