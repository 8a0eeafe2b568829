// Jobs that ended long ago, and a disk that was full when they were to go into the history.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <future>
#include <utility>

#include "base/testing/scratch_directory.h"
#include "coordinator/journal/job_store.h"
#include "coordinator/journal/testing/history_ids.h"

namespace bspnow::coordinator {
namespace {

JobRecord Record(std::uint64_t id) {
  JobRecord record;
  record.set_submission_key("key" + std::to_string(id));
  record.mutable_job()->set_job(id);
  record.mutable_job()->set_state(proto::FAILED);
  return record;
}

/// While it lives no file of this process grows.
class FullDisk {
 public:
  FullDisk() {
    signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit nothing = before_;
    nothing.rlim_cur = 1;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &nothing), 0);
  }
  ~FullDisk() { EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

class FullStoreTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> Open() {
    auto store = JobStore::Open(directory_.path(), [](const Timers::Event& event) { event(); });
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  static absl::Status Write(JobStore& store, const JobRecord& record) {
    std::promise<absl::Status> done;
    store.WriteJobs({record}, [&](const absl::Status& status) { done.set_value(status); });
    return done.get_future().get();
  }

  ScratchDirectory directory_;
};

TEST_F(FullStoreTest, WhatCouldNotGoIntoTheHistoryIsFoundAndGoesThereLater) {
  {
    const auto store = Open();
    for (std::uint64_t id = 1; id <= 5; ++id) EXPECT_TRUE(Write(*store, Record(id)).ok());
    store->Archive({JobId{2}});
    EXPECT_EQ(HistoryIds(*store, 9, 9), Ids({2}));
    {
      const FullDisk full;
      store->Archive({JobId{1}, JobId{3}, JobId{4}});
      EXPECT_EQ(HistoryIds(*store, 9, 9), Ids({4, 3, 2, 1}));
      EXPECT_EQ(HistoryIds(*store, 4, 2), Ids({3, 2}));
    }
    EXPECT_TRUE(Write(*store, Record(6)).ok());
    EXPECT_EQ(HistoryIds(*store, 9, 9), Ids({4, 3, 2, 1}));
  }
  const auto store = Open();
  Ids journal;
  for (const JobRecord& job : store->TakeLoaded().jobs) journal.push_back(Value(IdOf(job)));
  EXPECT_EQ(journal, Ids({5, 6}));
  EXPECT_EQ(HistoryIds(*store, 9, 9), Ids({4, 3, 2, 1}));
}

}  // namespace
}  // namespace bspnow::coordinator
