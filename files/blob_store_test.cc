#include "files/blob_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include "base/testing/scratch_directory.h"

namespace bspnow::files {
namespace {

constexpr char kHello[] = "hello";
constexpr char kSha256OfHello[] =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

bool StoreHello(const BlobStore& store) {
  BlobSink upload(store, Durability::kSynced);
  return upload.Begin({.name = kSha256OfHello, .bytes = 5, .mode = 0}).ok() &&
         upload.Append("he").ok() && upload.Append("llo").ok() && upload.Finish().ok();
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
  BlobSink upload(store, Durability::kSynced);
  ASSERT_TRUE(upload.Begin({.name = kSha256OfHello, .bytes = 5, .mode = 0}).ok());
  ASSERT_TRUE(upload.Append("hallo").ok());
  EXPECT_EQ(upload.Finish().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(store.Has(kSha256OfHello));
}

TEST(BlobStoreTest, RefusesMoreAndFewerBytesThanAnnounced) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  BlobSink longer(store, Durability::kSynced);
  ASSERT_TRUE(longer.Begin({.name = kSha256OfHello, .bytes = 4, .mode = 0}).ok());
  EXPECT_FALSE(longer.Append(kHello).ok());
  BlobSink shorter(store, Durability::kSynced);
  ASSERT_TRUE(shorter.Begin({.name = kSha256OfHello, .bytes = 6, .mode = 0}).ok());
  ASSERT_TRUE(shorter.Append(kHello).ok());
  EXPECT_FALSE(shorter.Finish().ok());
  BlobSink nothing(store, Durability::kSynced);
  EXPECT_FALSE(nothing.Append("x").ok());
  EXPECT_FALSE(nothing.Finish().ok());
}

TEST(BlobStoreTest, RefusesNamesThatAreNoHash) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  for (const char* name : {"", "../../etc/passwd", "2CF24DBA"}) {
    BlobSink upload(store, Durability::kSynced);
    EXPECT_FALSE(upload.Begin({.name = name, .bytes = 1, .mode = 0}).ok()) << name;
    EXPECT_FALSE(store.Open(name).ok()) << name;
    EXPECT_FALSE(store.Has(name)) << name;
  }
  BlobSink large(store, Durability::kSynced);
  EXPECT_EQ(large.Begin({.name = kSha256OfHello, .bytes = kBlobBytesMax + 1, .mode = 0}).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(BlobStoreTest, BrokenUploadLeavesNothing) {
  const ScratchDirectory scratch;
  const BlobStore store(scratch.path());
  {
    BlobSink upload(store, Durability::kSynced);
    ASSERT_TRUE(upload.Begin({.name = kSha256OfHello, .bytes = 5, .mode = 0}).ok());
    EXPECT_TRUE(upload.Append("he").ok());
  }
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
}  // namespace bspnow::files
