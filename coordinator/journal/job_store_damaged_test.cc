// A history that is damaged while the coordinator runs, or was so before, unnoticed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "coordinator/journal/job_history.h"
#include "coordinator/journal/job_store.h"
#include "coordinator/journal/testing/history_ids.h"

namespace bspnow::coordinator {
namespace {

class JobStoreDamagedTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> Open() {
    auto store = JobStore::Open(directory_.path(), [](Timers::Event event) { event(); });
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  static void Archive(JobStore& store, std::uint64_t id) {
    JobRecord record;
    record.mutable_job()->set_job(id);
    record.mutable_job()->set_state(proto::FAILED);
    store.WriteJobs({record}, [](const absl::Status&) {});
    store.Archive({JobId{id}});
  }

  const ScratchDirectory directory_;
};

// The first look at a file does not come to the pages of its tables.
TEST_F(JobStoreDamagedTest, AHistoryThatTakesNoJobIsSetAsideWhenThatIsNoticed) {
  constexpr std::uint64_t kPageBytes = 4096;
  const std::string path = HistoryIn(directory_.path());
  for (const std::uint64_t id : {1, 3}) {
    Archive(*Open(), id);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(kPageBytes)
        << std::string(kPageBytes, 'x');
    const auto store = Open();
    Archive(*store, id + 1);
    EXPECT_EQ(HistoryIds(*store, 9, 9), Ids{id + 1});
  }
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged.2")) << "the first one is kept";
}

}  // namespace
}  // namespace bspnow::coordinator
