#include "coordinator/rpc/left_files.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kBytes = 4;  // Of a chunk.

class LeftFilesTest : public testing::Test {
 protected:
  LeftFilesTest() {
    for (const char* const name : {"a", "b", "c", "d"})
      std::ofstream(path(name)) << name << "12345";
  }

  std::string path(const std::string& name) const { return left() + "/" + name; }
  std::string left() const { return scratch_.path() + "/left"; }
  std::string fetched() const { return scratch_.path() + "/fetched"; }

  /// Plays a client; `sent` is called after each chunk.
  template <typename Sent>
  absl::Status Fetch(const proto::FetchFilesRequest& request, Sent sent) {
    class Client : public files::FileSink {
     public:
      Client(files::FileReceiver& receiver, std::vector<std::string>& unread)
          : receiver_(receiver), unread_(unread) {}
      absl::Status Begin(const files::FileHead& head) override { return receiver_.Begin(head); }
      absl::Status Append(std::string_view bytes) override { return receiver_.Append(bytes); }
      absl::Status Finish() override { return receiver_.Finish(); }
      absl::Status OnUnread(std::string_view why) override {
        unread_.emplace_back(why);
        return receiver_.OnUnread(why);
      }

     private:
      files::FileReceiver& receiver_;
      std::vector<std::string>& unread_;
    };
    files::FileReceiver receiver(
        {.directory = fetched(), .bytes_max = 1 << 20, .durability = Durability::kCached});
    Client client(receiver, unread_);
    LeftFiles files(left(), request);
    proto::FileChunk chunk;
    for (;;) {
      const absl::StatusOr<bool> next = files.Next(chunk, kBytes);
      if (!next.ok()) return next.status();
      if (!*next) break;
      if (absl::Status taken = files::TakeChunk(chunk, client); !taken.ok()) return taken;
      sent(chunk);
    }
    if (absl::Status finished = client.Finish(); !finished.ok()) return finished;
    names_ = receiver.names();
    return absl::OkStatus();
  }

  const ScratchDirectory scratch_;
  const bool made_ = std::filesystem::create_directory(left());
  std::vector<std::string> names_;
  std::vector<std::string> unread_;
};

proto::FetchFilesRequest All() {
  proto::FetchFilesRequest request;
  request.set_unread(true);
  return request;
}

using Names = std::vector<std::string>;

TEST_F(LeftFilesTest, FilesThatCannotBeReadAreNamedAndAllOthersCome) {
  const absl::Status outcome = Fetch(All(), [this](const proto::FileChunk& chunk) {
    if (chunk.name() == "a") std::filesystem::remove(path("c"));          // It cannot be opened.
    if (chunk.name() == "b") std::filesystem::resize_file(path("b"), 2);  // Ends in the middle.
  });
  ASSERT_TRUE(outcome.ok()) << outcome;
  EXPECT_EQ(names_, Names({"a", "d"}));
  EXPECT_EQ(unread_, Names({"file b changed while it was sent",
                            "opening " + path("c") + ": No such file or directory"}));
  const std::vector<files::StoredFile> there = files::FilesBelow(fetched())->files;
  ASSERT_EQ(there.size(), 2u);
  EXPECT_EQ(there[0].bytes, 6u);
  EXPECT_EQ(there[1].bytes, 6u);
}

TEST_F(LeftFilesTest, TheLastFileMayBeTheOneThatCannotBeRead) {
  const absl::Status outcome = Fetch(All(), [this](const proto::FileChunk& chunk) {
    if (chunk.name() == "d") std::filesystem::resize_file(path("d"), 2);
  });
  ASSERT_TRUE(outcome.ok()) << outcome;
  EXPECT_EQ(names_, Names({"a", "b", "c"}));
  EXPECT_EQ(unread_.size(), 1u);
}

TEST_F(LeftFilesTest, WhoDoesNotTakeSuchFilesIsGivenAnError) {
  const absl::Status outcome = Fetch({}, [this](const proto::FileChunk& chunk) {
    if (chunk.name() == "a") std::filesystem::remove(path("b"));
  });
  EXPECT_TRUE(absl::IsNotFound(outcome)) << outcome;
}

TEST_F(LeftFilesTest, OnlyThoseThatAreNamedCome) {
  proto::FetchFilesRequest request = All();
  request.add_names("c");
  EXPECT_TRUE(Fetch(request, [](const proto::FileChunk&) {}).ok());
  EXPECT_EQ(names_, Names({"c"}));
  request.add_names("no-such");
  EXPECT_TRUE(absl::IsNotFound(Fetch(request, [](const proto::FileChunk&) {})));
}

}  // namespace
}  // namespace bspnow::coordinator
