#include "worker/checkpoint/image_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "base/testing/synced_paths.h"
#include "worker/checkpoint/image_reception.h"
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
const std::string kLibrary = "what a library has in its text";
const std::string kProgram = "what the program has in its text";

using Names = std::vector<std::string>;
using Sharing = ImageStore::Sharing;

class ImageStoreTest : public testing::Test {
 protected:
  ImageStoreTest() : store_(Open(0, Sharing::kOwn)) {}

  std::unique_ptr<ImageStore> Open(std::uint64_t quota_bytes, Sharing sharing) {
    auto store = ImageStore::Open({.root = root(), .quota_bytes = quota_bytes, .sharing = sharing});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  std::string root() const { return scratch_.path() + "/checkpoints"; }
  std::string PathOf(const std::string& name) const {
    return store_->DirectoryOf(kJob) + "/" + name;
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(PathOf(name)); }

  /// As processes do.
  void WriteImage(std::uint64_t checkpoint, std::uint64_t base, std::uint32_t pid,
                  std::vector<std::string> texts) {
    mkdir(store_->DirectoryOf(kJob).c_str(), 0700);
    for (const std::string& text : texts)
      if (!Exists(TextNameOf(text))) WriteFile(PathOf(TextNameOf(text) + ".new"), text);
    WriteFile(PathOf(ImageName(checkpoint, Pid{pid}) + ".new"),
              Encode({.job = kJob,
                      .checkpoint = checkpoint,
                      .base = base,
                      .pid = pid,
                      .texts = std::move(texts)}));
  }

  absl::Status Settle(std::uint64_t checkpoint) {
    return store_->Settle(kJob, checkpoint, {ImageName(checkpoint, Pid{0})});
  }

  /// A checkpoint of pid 0.
  void Take(std::uint64_t checkpoint, std::uint64_t base, std::vector<std::string> texts) {
    WriteImage(checkpoint, base, 0, std::move(texts));
    const absl::Status settled = Settle(checkpoint);
    ASSERT_TRUE(settled.ok()) << settled;
  }

  const ScratchDirectory scratch_ = ScratchDirectory::InMemory();
  std::unique_ptr<ImageStore> store_;
};

TEST_F(ImageStoreTest, SettlesImagesTextsAndArchive) {
  WriteImage(1, 0, 0, {kLibrary, kProgram});
  WriteImage(1, 0, 1, {kLibrary});
  WriteArchive(PathOf("c1.files.p0.new"));
  const absl::Status settled = store_->Settle(kJob, 1, {"c1.p0", "c1.p1", "c1.files.p0"});
  ASSERT_TRUE(settled.ok()) << settled;
  Names expected{"c1.files.p0", "c1.p0", "c1.p1", TextNameOf(kLibrary), TextNameOf(kProgram)};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(*store_->Names(kJob), expected);
  for (const std::string& name : expected) {
    EXPECT_TRUE(store_->Verify(kJob, name).ok());
    EXPECT_FALSE(Exists(name + ".new"));
    EXPECT_EQ(std::filesystem::status(PathOf(name)).permissions(), std::filesystem::perms{0600});
  }
}

TEST_F(ImageStoreTest, WhatIsSettledIsSyncedWithTheDirectoriesThatLeadToIt) {
  SyncedPaths().clear();
  Take(1, 0, {kLibrary});
  for (const std::string& path : {PathOf("c1.p0.new"), PathOf(TextNameOf(kLibrary) + ".new"),
                                  store_->DirectoryOf(kJob), root()})
    EXPECT_TRUE(SyncedPaths().contains(path)) << path;
}

TEST_F(ImageStoreTest, TornImageTakesItsWholeCheckpointAlong) {
  WriteImage(1, 0, 0, {});
  WriteImage(1, 0, 1, {});
  std::filesystem::resize_file(PathOf("c1.p1.new"),
                               std::filesystem::file_size(PathOf("c1.p1.new")) - 1);
  const absl::Status settled = store_->Settle(kJob, 1, {"c1.p0", "c1.p1"});
  EXPECT_EQ(settled.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(settled.ToString().find("c1.p1"), std::string::npos) << settled;
  EXPECT_TRUE(std::filesystem::is_empty(store_->DirectoryOf(kJob)));
}

TEST_F(ImageStoreTest, MissingImageTakesItsWholeCheckpointAlong) {
  WriteImage(1, 0, 0, {});
  EXPECT_EQ(store_->Settle(kJob, 1, {"c1.p0", "c1.p1"}).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(store_->DirectoryOf(kJob)));
}

TEST_F(ImageStoreTest, ImageOfSomebodyElseIsNotTaken) {
  WriteImage(2, 0, 5, {});
  std::filesystem::rename(PathOf("c2.p5.new"), PathOf("c2.p0.new"));
  EXPECT_EQ(Settle(2).code(), absl::StatusCode::kDataLoss);
}

TEST_F(ImageStoreTest, LinkOutOfTheDirectoryIsNotFollowed) {
  WriteImage(1, 0, 0, {});
  std::filesystem::rename(PathOf("c1.p0.new"), scratch_.path() + "/elsewhere");
  std::filesystem::create_symlink(scratch_.path() + "/elsewhere", PathOf("c1.p0.new"));
  EXPECT_FALSE(Settle(1).ok());
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() + "/elsewhere"));
}

TEST_F(ImageStoreTest, TextThatIsMissingOrDamagedIsSaidAndWrittenAnewNextTime) {
  WriteImage(1, 0, 0, {kLibrary});
  std::filesystem::remove(PathOf(TextNameOf(kLibrary) + ".new"));
  EXPECT_EQ(Settle(1).code(), absl::StatusCode::kNotFound);
  WriteImage(2, 0, 0, {kLibrary});
  Damage(PathOf(TextNameOf(kLibrary) + ".new"), 3);
  EXPECT_EQ(Settle(2).code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(std::filesystem::is_empty(store_->DirectoryOf(kJob)));
  Take(3, 0, {kLibrary});
}

TEST_F(ImageStoreTest, TextDamagedInAnEarlierRunIsFoundOut) {
  Take(1, 0, {kLibrary});
  Damage(PathOf(TextNameOf(kLibrary)), 3);
  store_ = Open(0, Sharing::kOwn);
  WriteImage(2, 0, 0, {kLibrary});
  EXPECT_EQ(Settle(2).code(), absl::StatusCode::kDataLoss);
  Take(3, 0, {kLibrary});
}

TEST_F(ImageStoreTest, OpenRemovesWhatWasNotFinishedAndNothingElse) {
  Take(1, 0, {kLibrary});
  WriteImage(2, 1, 0, {kProgram});
  WriteFile(PathOf("c2.p1.inX4Ff2a"), "half of");
  WriteFile(PathOf("notes"), "of somebody");
  mkdir(store_->DirectoryOf(JobId{18}).c_str(), 0700);
  WriteFile(store_->DirectoryOf(JobId{18}) + "/c1.p0.new", "");
  store_ = Open(0, Sharing::kOwn);
  EXPECT_EQ(*store_->Names(kJob), (Names{"c1.p0", TextNameOf(kLibrary)}));
  EXPECT_FALSE(Exists("c2.p0.new"));
  EXPECT_FALSE(Exists("c2.p1.inX4Ff2a"));
  EXPECT_FALSE(Exists(TextNameOf(kProgram) + ".new"));
  EXPECT_TRUE(Exists("notes"));
  EXPECT_FALSE(std::filesystem::exists(store_->DirectoryOf(JobId{18})));
}

TEST_F(ImageStoreTest, OpeningASharedDirectoryLeavesWhatOthersAreWriting) {
  WriteImage(2, 0, 0, {kProgram});
  store_ = Open(0, Sharing::kShared);
  EXPECT_TRUE(Exists("c2.p0.new"));
  EXPECT_TRUE(Exists(TextNameOf(kProgram) + ".new"));
}

TEST_F(ImageStoreTest, SaysWhichJobsLieHere) {
  Take(1, 0, {});
  Take(3, 1, {});
  WriteImage(4, 3, 0, {});
  const auto stored = *store_->Stored();
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0].job(), Value(kJob));
  EXPECT_EQ(
      (std::vector<std::uint64_t>{stored[0].checkpoints().begin(), stored[0].checkpoints().end()}),
      (std::vector<std::uint64_t>{1, 3}));
}

// ---- Removing -----------------------------------------------------------------------------------

TEST_F(ImageStoreTest, DiscardRemovesOneCheckpointOnly) {
  Take(1, 0, {kLibrary});
  Take(12, 1, {kLibrary});
  WriteImage(12, 1, 1, {});
  WriteFile(PathOf("c12.files.p0"), "");
  store_->Discard(kJob, 12);
  store_->Discard(JobId{99}, 1);
  EXPECT_EQ(*store_->Names(kJob), (Names{"c1.p0", TextNameOf(kLibrary)}));
  EXPECT_FALSE(Exists("c12.p1.new"));
}

TEST_F(ImageStoreTest, KeepHoldsTheChainItsTextsAndWhatIsNewer) {
  Take(1, 0, {kLibrary, kProgram});
  Take(2, 1, {kLibrary, kProgram});
  Take(3, 0, {kProgram});
  Take(4, 3, {kProgram});
  Take(5, 4, {kProgram});
  store_->Keep(kJob, {4, 3}, store_->last_list());
  EXPECT_EQ(*store_->Names(kJob), (Names{"c3.p0", "c4.p0", "c5.p0", TextNameOf(kProgram)}));
}

TEST_F(ImageStoreTest, KeepRemovesWhatWasBegunBeforeButNothingNewer) {
  Take(4, 0, {});
  WriteImage(3, 0, 0, {});
  WriteFile(PathOf("c2.files.p0.inAbCdEf"), "");
  WriteImage(5, 4, 0, {kLibrary});
  store_->Keep(kJob, {4}, store_->last_list());
  EXPECT_FALSE(Exists("c3.p0.new"));
  EXPECT_FALSE(Exists("c2.files.p0.inAbCdEf"));
  EXPECT_TRUE(Settle(5).ok());
}

TEST_F(ImageStoreTest, NoTextGoesWhileSomebodyWrites) {
  Take(1, 0, {kLibrary});
  Take(2, 0, {});
  WriteImage(3, 2, 0, {kLibrary});  // Found the text, and has not written it again.
  store_->Keep(kJob, {2}, store_->last_list());
  EXPECT_TRUE(Settle(3).ok());
  store_->Keep(kJob, {2, 3}, store_->last_list());
  EXPECT_TRUE(Exists(TextNameOf(kLibrary)));
}

TEST_F(ImageStoreTest, KeepNoneRemovesTheJob) {
  Take(1, 0, {kLibrary});
  WriteImage(2, 0, 0, {});
  store_->Keep(kJob, {}, store_->last_list());
  store_->Keep(kJob, {}, store_->last_list());
  EXPECT_FALSE(std::filesystem::exists(store_->DirectoryOf(kJob)));
  EXPECT_TRUE(store_->Stored()->empty());
  Take(1, 0, {kLibrary});  // Its texts are not taken for known.
}

TEST_F(ImageStoreTest, WhatWasOrderedBeforeAListRemovesNothingAfterIt) {
  for (const std::uint64_t checkpoint : {1, 2, 3}) Take(checkpoint, 0, {kLibrary});
  const auto before = store_->last_list();
  ASSERT_EQ(store_->List()->size(), 1u);
  const Names all = *store_->Names(kJob);
  store_->Keep(kJob, {3}, before);
  store_->Release(kJob, 2, before);
  store_->Keep(kJob, {}, before);
  EXPECT_EQ(*store_->Names(kJob), all);
  store_->Release(kJob, 2, store_->last_list());
  store_->Keep(kJob, {3}, store_->last_list());
  EXPECT_EQ(*store_->Names(kJob), (Names{"c3.p0", TextNameOf(kLibrary)}));
}

TEST_F(ImageStoreTest, WhateverAProgramLeavesThereGoesWithTheJob) {
  Take(1, 0, {});
  std::filesystem::create_directories(PathOf("c2.p0/deep"));
  std::filesystem::create_directories(PathOf("own/deep"));
  store_->Keep(kJob, {}, store_->last_list());
  EXPECT_FALSE(std::filesystem::exists(store_->DirectoryOf(kJob)));
}

TEST_F(ImageStoreTest, SeveralMayKeepInASharedDirectoryAtOnce) {
  for (std::uint64_t checkpoint = 1; checkpoint <= 40; ++checkpoint)
    Take(checkpoint, 0, {kLibrary, "text " + std::to_string(checkpoint)});
  {
    const auto a = Open(0, Sharing::kShared), b = Open(0, Sharing::kShared);
    const std::jthread first([&] { a->Keep(kJob, {39, 40}, a->last_list()); });
    const std::jthread second([&] { b->Keep(kJob, {39, 40}, b->last_list()); });
  }
  Names expected{"c39.p0", "c40.p0", TextNameOf(kLibrary), TextNameOf("text 39"),
                 TextNameOf("text 40")};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(*store_->Names(kJob), expected);
}

TEST_F(ImageStoreTest, SharersSettleOneTextTogether) {
  WriteImage(1, 0, 0, {kLibrary});
  WriteImage(1, 0, 1, {kLibrary});
  absl::Status settled[2];
  {
    const auto a = Open(0, Sharing::kShared), b = Open(0, Sharing::kShared);
    const std::jthread first([&] { settled[0] = a->Settle(kJob, 1, {"c1.p0"}); });
    const std::jthread second([&] { settled[1] = b->Settle(kJob, 1, {"c1.p1"}); });
  }
  EXPECT_TRUE(settled[0].ok()) << settled[0];
  EXPECT_TRUE(settled[1].ok()) << settled[1];
  EXPECT_EQ(*store_->Names(kJob), (Names{"c1.p0", "c1.p1", TextNameOf(kLibrary)}));
}

// The text lies there for an image that goes, and one that begins relies on it.
TEST_F(ImageStoreTest, NoSharerRemovesATextThatAnotherHasJustFound) {
  const auto a = Open(0, Sharing::kShared), b = Open(0, Sharing::kShared);
  absl::Status settled;  // If not, it has waited ten seconds for the text.
  for (std::uint64_t checkpoint = 1; checkpoint < 300 && settled.ok(); checkpoint += 3) {
    Take(checkpoint, 0, {kLibrary});
    Take(checkpoint + 1, 0, {});
    {
      const std::jthread removes([&] { a->Keep(kJob, {checkpoint + 1}, a->last_list()); });
      WriteImage(checkpoint + 2, 0, 0, {kLibrary});
      settled = b->Settle(kJob, checkpoint + 2, {ImageName(checkpoint + 2, Pid{0})});
    }
    EXPECT_EQ(Exists(ImageName(checkpoint + 2, Pid{0})), settled.ok());
    EXPECT_TRUE(!settled.ok() || Exists(TextNameOf(kLibrary))) << checkpoint;
  }
  Take(400, 0, {kProgram});
  std::filesystem::rename(PathOf(TextNameOf(kProgram)), PathOf(TextNameOf(kProgram) + ".aside"));
  Open(0, Sharing::kShared);  // One that died had put it aside.
  EXPECT_TRUE(Exists(TextNameOf(kProgram)));
}

// ---- Room ---------------------------------------------------------------------------------------

TEST_F(ImageStoreTest, QuotaIsKeptBeforeAndAfter) {
  Take(1, 0, {});
  const std::uint64_t used = store_->used_bytes();
  EXPECT_EQ(used, std::filesystem::file_size(PathOf("c1.p0")));
  store_ = Open(used + 10, Sharing::kOwn);
  EXPECT_TRUE(store_->CheckRoom(10).ok());
  const absl::Status room = store_->CheckRoom(11);
  EXPECT_EQ(room.code(), absl::StatusCode::kResourceExhausted);
  for (const std::string& part : {root(), std::to_string(used), std::string("take 11 more"),
                                  std::to_string(used + 10), std::string("--checkpoint-quota")})
    EXPECT_NE(room.ToString().find(part), std::string::npos) << room;
  WriteImage(2, 1, 0, {});
  EXPECT_EQ(Settle(2).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*store_->Names(kJob), Names{"c1.p0"});
}

TEST_F(ImageStoreTest, FullDiskIsSaidBeforeWithTheWayOut) {
  const absl::Status room = store_->CheckRoom(std::uint64_t{1} << 60);
  EXPECT_EQ(room.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(room.ToString().find("bytes left"), std::string::npos) << room;
  EXPECT_NE(room.ToString().find(root()), std::string::npos) << room;
}

// ---- From other nodes ---------------------------------------------------------------------------

TEST_F(ImageStoreTest, ReceivesOnlyWhatIsWholeAndRight) {
  const std::string bytes =
      Encode({.job = kJob, .checkpoint = 1, .base = 0, .pid = 3, .texts = {}});
  {
    auto torn = Receive(*store_, "c1.p3", bytes.size());
    ASSERT_TRUE(torn.ok()) << torn.status();
    ASSERT_TRUE((*torn)->Append(bytes.substr(1)).ok());
    EXPECT_EQ((*torn)->Finish().code(), absl::StatusCode::kDataLoss);
    auto flipped = Receive(*store_, "c1.p3", bytes.size());
    std::string other = bytes;
    other[5000] ^= 1;
    ASSERT_TRUE((*flipped)->Append(other).ok());
    EXPECT_FALSE((*flipped)->Append("x").ok());
    EXPECT_EQ((*flipped)->Finish().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_TRUE(std::filesystem::is_empty(store_->DirectoryOf(kJob)));
  auto whole = Receive(*store_, "c1.p3", bytes.size());
  ASSERT_TRUE((*whole)->Append(bytes).ok());
  EXPECT_TRUE((*whole)->Finish().ok());
  EXPECT_EQ(FileText(PathOf("c1.p3")), bytes);
  EXPECT_FALSE(Receive(*store_, "../c1.p3", 1).ok());
}

TEST_F(ImageStoreTest, FilesThatAreComingCountAgainstTheQuota) {
  store_ = Open(1000, Sharing::kOwn);
  {
    const auto first = Receive(*store_, "c1.p0", 600);
    ASSERT_TRUE(first.ok());
    ASSERT_TRUE((*first)->Append(std::string(100, 'x')).ok());
    EXPECT_EQ(Receive(*store_, "c1.p1", 401).status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(Receive(*store_, "c1.p1", 400).ok());
  }
  EXPECT_TRUE(Receive(*store_, "c1.p1", 1000).ok());
}

/// The disk is full in the middle of a file; the limit on a file's size stands for it.
TEST_F(ImageStoreTest, DiskThatFillsUpMeanwhileLeavesNothingBehind) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  absl::Status put;
  {
    auto reception = Receive(*store_, "c1.p0", 10'000);
    setrlimit(RLIMIT_FSIZE, &small);
    put = (*reception)->Append(std::string(10'000, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
  }
  EXPECT_FALSE(put.ok());
  EXPECT_NE(put.ToString().find(store_->DirectoryOf(kJob)), std::string::npos) << put;
  EXPECT_TRUE(std::filesystem::is_empty(store_->DirectoryOf(kJob)));
  EXPECT_TRUE(store_->CheckRoom(10'000).ok());
}

}  // namespace
}  // namespace bspnow::worker
