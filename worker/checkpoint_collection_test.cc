#include "worker/checkpoint_collection.h"

#include <gtest/gtest.h>

namespace bspnow {
namespace {

HostReport Saving(std::uint32_t pid) {
  return {.kind = HostReport::kSaving, .pid = Pid{pid}, .number = 7, .output_bytes = 10 + pid};
}
HostReport Image(std::uint32_t pid, const std::string& reason) {
  return {.kind = HostReport::kImage,
          .pid = Pid{pid},
          .number = 7,
          .text = reason,
          .file_bytes = 1000 + pid};
}
HostReport Files(const std::string& reason) {
  return {.kind = HostReport::kFiles, .pid = Pid{2}, .number = 7, .text = reason};
}

TEST(CheckpointCollectionTest, IsCompleteWhenAllImagesAndTheFilesAreReported) {
  CheckpointCollection collection;
  for (const HostReport& report : {Saving(2), Saving(5), Image(5, ""), Files("")}) {
    collection.OnReport(report);
    EXPECT_FALSE(collection.complete());
  }
  collection.OnReport(Image(5, ""));  // Once more: that is not pid 2's.
  EXPECT_FALSE(collection.complete());
  collection.OnReport(Image(2, ""));
  EXPECT_TRUE(collection.complete());
  EXPECT_EQ(collection.failure(), "");
  EXPECT_EQ(collection.images().at(Pid{5}).output_bytes, 15u);
  EXPECT_EQ(collection.images().at(Pid{5}).file_bytes, 1005u);
  EXPECT_EQ(collection.Names(7), (std::vector<std::string>{"c7.p2", "c7.p5", "c7.files.p2"}));
}

TEST(CheckpointCollectionTest, KeepsTheFirstReasonOfAFailure) {
  CheckpointCollection collection;
  for (const HostReport& report :
       {Saving(2), Saving(3), Image(3, "descriptor 5 is a socket"), Image(2, "another")}) {
    collection.OnReport(report);
  }
  EXPECT_FALSE(collection.complete()) << "the files are still being written";
  collection.OnReport(Files("disk full"));
  EXPECT_TRUE(collection.complete());
  EXPECT_EQ(collection.failure(), "pid 3: descriptor 5 is a socket");
}

TEST(CheckpointCollectionTest, FailsWithoutItsFiles) {
  CheckpointCollection collection;
  for (const HostReport& report : {Saving(2), Image(2, ""), Files("disk full")}) {
    collection.OnReport(report);
  }
  EXPECT_NE(collection.failure().find("disk full"), std::string::npos);
}

}  // namespace
}  // namespace bspnow
