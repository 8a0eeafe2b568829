#include "files/file_chunks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/scratch_directory.h"

namespace bspnow::files {
namespace {

class NotingSink final : public FileSink {
 public:
  absl::Status Begin(const FileHead& head) override {
    text += "[" + head.name + " " + std::to_string(head.bytes) + "]";
    return absl::OkStatus();
  }
  absl::Status Append(std::string_view bytes) override {
    text += bytes;
    return absl::OkStatus();
  }
  absl::Status AppendHole(std::uint64_t bytes) override {
    text += "<" + std::to_string(bytes) + ">";
    return absl::OkStatus();
  }
  absl::Status Finish() override { return absl::OkStatus(); }

  std::string text;
};

class FileChunksTest : public testing::Test {
 protected:
  OutgoingFile Open(const std::string& text) {
    std::ofstream(path_) << text;
    absl::StatusOr<OutgoingFile> file = OutgoingFile::Open(path_, "name");
    EXPECT_TRUE(file.ok()) << file.status();
    return std::move(*file);
  }

  /// 1 MiB: "a" where it begins, "b" after 512 KiB, and holes.
  absl::StatusOr<OutgoingFile> OpenSparse() {
    std::ofstream file(path_);
    file << 'a';
    file.seekp(kSparseBytes / 2) << 'b';
    file.close();
    std::filesystem::resize_file(path_, kSparseBytes);
    return OutgoingFile::Open(path_, "name");
  }

  static constexpr std::uint64_t kSparseBytes = 1 << 20;

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.path() + "/file";
};

TEST_F(FileChunksTest, BringAFileInItsOrder) {
  OutgoingFile file = Open("abcde");
  NotingSink sink;
  proto::FileChunk chunk;
  chunk.set_job(7);
  for (int chunks = 0; !file.ended(); ++chunks) {
    ASSERT_TRUE(file.Read(chunk, 2).ok());
    EXPECT_LE(chunk.data().size(), 2u);
    EXPECT_EQ(chunk.name(), chunks == 0 ? "name" : "");
    EXPECT_EQ(chunk.job(), chunks == 0 ? 7u : 0u);
    ASSERT_TRUE(TakeChunk(chunk, sink).ok());
  }
  EXPECT_EQ(sink.text, "[name 5]abcde");
}

TEST_F(FileChunksTest, BringAnEmptyFileInOne) {
  OutgoingFile file = Open("");
  NotingSink sink;
  proto::FileChunk chunk;
  ASSERT_FALSE(file.ended());
  ASSERT_TRUE(file.Read(chunk, kChunkBytesMax).ok());
  EXPECT_TRUE(file.ended());
  ASSERT_TRUE(TakeChunk(chunk, sink).ok());
  EXPECT_EQ(sink.text, "[name 0]");
}

TEST_F(FileChunksTest, EndWhereTheFileEndedWhenItWasOpened) {
  OutgoingFile file = Open("abc");
  std::ofstream(path_, std::ios::app) << "more";
  proto::FileChunk chunk;
  ASSERT_TRUE(file.Read(chunk, kChunkBytesMax).ok());
  EXPECT_EQ(chunk.data(), "abc");
  EXPECT_TRUE(file.ended());
}

TEST_F(FileChunksTest, SayThatAFileWasCut) {
  OutgoingFile file = Open("abc");
  proto::FileChunk chunk;
  ASSERT_TRUE(file.Read(chunk, 2).ok());
  std::filesystem::resize_file(path_, 1);
  EXPECT_EQ(file.Read(chunk, 2).code(), absl::StatusCode::kAborted);
}

TEST_F(FileChunksTest, HaveNoneOfTheBytesOfHolesForWhoTakesThem) {
  absl::StatusOr<OutgoingFile> file = OpenSparse();
  ASSERT_TRUE(file.ok()) << file.status();
  if (!file->sparse()) GTEST_SKIP() << "no file has holes here";
  file->LeaveHoles();
  NotingSink sink;
  proto::FileChunk chunk;
  std::uint64_t bytes = 0, holes = 0;
  while (!file->ended()) {
    ASSERT_TRUE(file->Read(chunk, kChunkBytesMax).ok());
    bytes += chunk.data().size();
    holes += chunk.hole();
    ASSERT_TRUE(TakeChunk(chunk, sink).ok());
  }
  EXPECT_EQ(bytes + holes, kSparseBytes);
  EXPECT_LE(bytes, 128u << 10) << "two blocks of the file system";
  const std::size_t a = sink.text.find('a', sink.text.find(']')), b = sink.text.find('b', a);
  EXPECT_LT(sink.text.find('<', a), b) << "the first hole is between them";
  EXPECT_LT(sink.text.find('<', b), sink.text.size()) << "and the file ends in the other";
}

TEST_F(FileChunksTest, HaveTheZerosOfHolesForOthers) {
  absl::StatusOr<OutgoingFile> file = OpenSparse();
  ASSERT_TRUE(file.ok()) << file.status();
  proto::FileChunk chunk;
  ASSERT_TRUE(file->Read(chunk, kChunkBytesMax).ok());
  EXPECT_EQ(chunk.data().size(), kSparseBytes);
  EXPECT_EQ(chunk.hole(), 0u);
}

TEST_F(FileChunksTest, SayThatAFileWasCutWithinItsHole) {
  absl::StatusOr<OutgoingFile> file = OpenSparse();
  ASSERT_TRUE(file.ok()) << file.status();
  file->LeaveHoles();
  std::filesystem::resize_file(path_, kSparseBytes / 4);
  absl::Status read;
  for (proto::FileChunk chunk; read.ok() && !file->ended();)
    read = file->Read(chunk, kChunkBytesMax);
  EXPECT_EQ(read.code(), absl::StatusCode::kAborted);
}

TEST_F(FileChunksTest, AreRefusedIfTheyAreTooLarge) {
  NotingSink sink;
  proto::FileChunk chunk;
  chunk.set_name("name");
  chunk.set_data(std::string(kChunkBytesMax + 1, 'x'));
  EXPECT_EQ(TakeChunk(chunk, sink).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(sink.text, "");
}

TEST_F(FileChunksTest, OfALinkAreNotSent) {
  std::filesystem::create_symlink("/etc/passwd", path_);
  EXPECT_FALSE(OutgoingFile::Open(path_, "name").ok());
}

}  // namespace
}  // namespace bspnow::files
