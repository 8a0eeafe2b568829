#include "client/options/cluster_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow::client {
namespace {

class ClusterFileTest : public testing::Test {
 protected:
  absl::StatusOr<ClusterFile> Read(const std::string& text) const {
    std::ofstream(path_) << text;
    return ReadClusterFile(path_);
  }
  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.path() + "/client.toml";
};

TEST_F(ClusterFileTest, NamesTheCoordinator) {
  const auto file = Read("# Ours.\ncoordinator = \"head:7070\"\ntls = \"/etc/bspnow/tls\"\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->coordinator, "head:7070");
  EXPECT_EQ(file->tls_dir, "/etc/bspnow/tls");
}

TEST_F(ClusterFileTest, NamesNothingIfItIsMissingOrAllComments) {
  EXPECT_EQ(ReadClusterFile(path_)->coordinator, "");
  EXPECT_EQ(Read("# coordinator = \"head:7070\"\n")->coordinator, "");
}

TEST_F(ClusterFileTest, SaysWhichLineIsWrong) {
  const auto unknown = Read("\ncordinator = \"head\"\n").status();
  EXPECT_NE(unknown.message().find(path_ + ":2: there is no setting cordinator"), std::string::npos)
      << unknown;
  const auto bad = Read("coordinator = \"head:port\"\n").status();
  EXPECT_NE(bad.message().find(path_ + ":1: "), std::string::npos) << bad;
  EXPECT_EQ(bad.message().find("bsp: "), std::string::npos) << bad;
}

// The rest of a broken line was taken for a name, which no name server knew.
TEST_F(ClusterFileTest, AStringIsClosedOnItsLine) {
  for (const std::string line :
       {"coordinator = \"head", "coordinator = 'head", "coordinator=\"", "coordinator = \"he#ad\"",
        "coordinator = \"\"\"head", "\tcoordinator  = \"head # ours\""}) {
    const absl::Status read = Read("# Ours.\n" + line + "\n").status();
    EXPECT_EQ(read.message().find(path_ + ":2: --coordinator: a string ends on its line"), 0u)
        << line << ": " << read;
  }
  for (const std::string line : {"coordinator = \"head\" # ours", "coordinator = 'head'",
                                 "coordinator = head", "# coordinator = \"head"})
    EXPECT_TRUE(Read(line + "\n").ok()) << line;
}

}  // namespace
}  // namespace bspnow::client
