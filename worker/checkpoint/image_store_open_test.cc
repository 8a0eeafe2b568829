// Where images may not be kept.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/testing/scratch_directory.h"
#include "worker/checkpoint/image_store.h"

namespace bspnow::worker {
namespace {

using Sharing = ImageStore::Sharing;

// Others would rename images away, or put their own in the place of a job's.
TEST(ImageStoreOpenTest, RefusesADirectoryToWhichEverybodyMayWrite) {
  const ScratchDirectory scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 01777), 0);
  for (const Sharing sharing : {Sharing::kOwn, Sharing::kShared}) {
    const auto open = [&](const std::string& root) {
      return ImageStore::Open({.root = root, .quota_bytes = 0, .sharing = sharing}).status();
    };
    EXPECT_TRUE(absl::IsFailedPrecondition(open(scratch.path())));
    EXPECT_TRUE(open(scratch.path() + "/below").ok());
  }
  ASSERT_EQ(chmod(scratch.path().c_str(), 0700), 0);
}

}  // namespace
}  // namespace bspnow::worker
