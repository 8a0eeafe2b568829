#include "files/blob_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include "base/scratch_directory.h"

namespace bspnow {
namespace {

constexpr char kHello[] = "hello";
constexpr char kSha256OfHello[] =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

bool StoreHello(const BlobStore& store) {
  auto upload = store.Upload(kSha256OfHello, 5);
  return upload.ok() && upload->Append("he").ok() && upload->Append("llo").ok() &&
         upload->Commit(Durability::kSynced).ok();
}

int FilesIn(const std::string& directory) {
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++files;
  return files;
}

TEST(BlobStoreTest, GivesBackWhatWasStored) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  EXPECT_FALSE(store.Has(kSha256OfHello));
  ASSERT_TRUE(StoreHello(store));
  EXPECT_TRUE(store.Has(kSha256OfHello));
  const auto fd = store.Open(kSha256OfHello);
  ASSERT_TRUE(fd.ok());
  char text[16];
  ASSERT_EQ(read(fd->get(), text, sizeof(text)), 5);
  EXPECT_EQ(std::string(text, 5), kHello);
}

TEST(BlobStoreTest, RefusesContentWithAnotherHash) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  auto upload = store.Upload(kSha256OfHello, 5);
  ASSERT_TRUE(upload.ok());
  ASSERT_TRUE(upload->Append("hallo").ok());
  EXPECT_EQ(upload->Commit(Durability::kSynced).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(store.Has(kSha256OfHello));
}

TEST(BlobStoreTest, RefusesMoreAndFewerBytesThanAnnounced) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  auto longer = store.Upload(kSha256OfHello, 4);
  ASSERT_TRUE(longer.ok());
  EXPECT_FALSE(longer->Append(kHello).ok());
  auto shorter = store.Upload(kSha256OfHello, 6);
  ASSERT_TRUE(shorter.ok());
  ASSERT_TRUE(shorter->Append(kHello).ok());
  EXPECT_FALSE(shorter->Commit(Durability::kSynced).ok());
}

TEST(BlobStoreTest, RefusesNamesThatAreNoHash) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  for (const char* name : {"", "../../etc/passwd", "2CF24DBA"}) {
    EXPECT_FALSE(store.Upload(name, 1).ok()) << name;
    EXPECT_FALSE(store.Open(name).ok()) << name;
    EXPECT_FALSE(store.Has(name)) << name;
  }
  EXPECT_EQ(store.Upload(kSha256OfHello, kBlobBytesMax + 1).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(BlobStoreTest, BrokenUploadLeavesNothing) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  { EXPECT_TRUE(store.Upload(kSha256OfHello, 5)->Append("he").ok()); }
  EXPECT_EQ(FilesIn(scratch.path()), 0);
}

TEST(BlobStoreTest, StartRemovesUploadsOfACrashedOne) {
  const ScratchDirectory scratch;
  ASSERT_GE(UniqueFd(open((scratch.path() + "/.new-left").c_str(), O_CREAT | O_WRONLY, 0600)).get(),
            0);
  const BlobStore store(scratch.path());
  EXPECT_EQ(FilesIn(scratch.path()), 0);
}

TEST(BlobStoreTest, NoticesThatAContentWasDamaged) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  EXPECT_FALSE(store.Verify(kSha256OfHello).ok());
  ASSERT_TRUE(StoreHello(store));
  EXPECT_EQ(store.Verify(kSha256OfHello).value(), 5u);
  std::filesystem::resize_file(scratch.path() + "/" + kSha256OfHello, 4);
  EXPECT_EQ(store.Verify(kSha256OfHello).status().code(), absl::StatusCode::kDataLoss);
}

TEST(BlobStoreTest, RemovesOnlyWhatIsOldAndUnneeded) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  ASSERT_TRUE(StoreHello(store));
  EXPECT_EQ(store.RemoveUnneeded({}, 0), 0);
  EXPECT_EQ(store.RemoveUnneeded({kSha256OfHello}, INT64_MAX), 0);
  EXPECT_TRUE(store.Has(kSha256OfHello));
  EXPECT_EQ(store.RemoveUnneeded({}, INT64_MAX), 1);
  EXPECT_FALSE(store.Has(kSha256OfHello));
}

}  // namespace
}  // namespace bspnow
