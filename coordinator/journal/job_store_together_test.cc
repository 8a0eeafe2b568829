// Jobs that are written together: all of them are there after a restart, or none.
#include <gtest/gtest.h>

#include <future>
#include <utility>

#include "base/testing/scratch_directory.h"
#include "coordinator/journal/job_database.h"
#include "coordinator/journal/job_store.h"

namespace bspnow::coordinator {
namespace {

JobRecord Record(std::uint64_t id) {
  JobRecord record;
  record.mutable_job()->set_job(id);
  return record;
}

class TogetherTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> Open() {
    auto store = JobStore::Open(directory_.path(), [](Timers::Event event) { event(); });
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  /// Of a statement that makes the file refuse one of them.
  void Perform(const std::string& sql) {
    auto database = SqliteDatabase::OpenUnchecked(JournalIn(directory_.path()));
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_EQ(database->Execute(sql), absl::OkStatus());
  }

  absl::Status Write(JobStore& store, std::vector<JobRecord> records) {
    std::promise<absl::Status> done;
    store.WriteJobs(std::move(records), [&](const absl::Status& s) { done.set_value(s); });
    return done.get_future().get();
  }

  std::vector<JobId> Stored() {
    std::vector<JobId> ids;
    for (const JobRecord& record : Open()->TakeLoaded().jobs) ids.push_back(IdOf(record));
    return ids;
  }

  ScratchDirectory directory_;
};

TEST_F(TogetherTest, OneThatIsRefusedTakesTheOthersWithItAndNoOtherWrite) {
  Open();
  Perform(
      "CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.key = '3' "
      "BEGIN SELECT RAISE(ABORT, 'refused'); END");
  {
    const auto store = Open();
    EXPECT_EQ(Write(*store, {Record(1)}), absl::OkStatus());
    EXPECT_FALSE(Write(*store, {Record(2), Record(3), Record(4)}).ok());
    EXPECT_EQ(Write(*store, {Record(5), Record(6)}), absl::OkStatus());
  }
  EXPECT_EQ(Stored(), (std::vector{JobId{1}, JobId{5}, JobId{6}}));
}

}  // namespace
}  // namespace bspnow::coordinator
