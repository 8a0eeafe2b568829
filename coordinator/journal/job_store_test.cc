#include "coordinator/journal/job_store.h"
#include "coordinator/journal/testing/history_ids.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "coordinator/core/jobs/job_table.h"
#include "coordinator/journal/job_history.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow::coordinator {
namespace {

JobRecord Record(std::uint64_t id, proto::JobState state) {
  JobRecord record;
  record.set_submission_key("key" + std::to_string(id));
  record.mutable_job()->set_job(id);
  record.mutable_job()->set_state(state);
  return record;
}

JobRecord FullRecord() {
  JobRecord record = Record(7, proto::FAILED);
  proto::Job& job = *record.mutable_job();
  job.mutable_spec()->set_nprocs(4);
  job.mutable_spec()->add_arguments(std::string("a\0b", 3));
  job.set_reason("worker w3 lost");
  job.set_epoch(2);
  for (const std::uint32_t pid : {0, 1, 2, 3}) {
    if (pid % 3 == 0) {
      job.add_placement()->set_node("w" + std::to_string(pid));
      record.add_hosts()->set_worker(pid);
    }
    job.mutable_placement()->rbegin()->add_pids(pid);
  }
  job.mutable_totals()->set_supersteps(900);
  job.add_losses()->set_reason("pid 1 was killed");
  record.set_took_input(true);
  record.set_killed_by(-1);
  return record;
}

// On the store's thread.
void AtOnce(const Timers::Event& event) { event(); }

class JobStoreTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> Open() {
    absl::StatusOr<std::unique_ptr<JobStore>> store = JobStore::Open(directory_.path(), AtOnce);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  static absl::Status Write(JobStore& store, const JobRecord& record) {
    std::promise<absl::Status> done;
    store.WriteJobs({record}, [&](const absl::Status& status) { done.set_value(status); });
    return done.get_future().get();
  }

  /// From now on the journal refuses such records in this way.
  void Refuse(const std::string& when, const std::string& how) {
    Open();
    Execute("CREATE TRIGGER refuses BEFORE INSERT ON records WHEN " + when +
            " BEGIN SELECT RAISE(" + how + ", 'refused'); END");
  }

  void Execute(const std::string& sql) {
    auto database = SqliteDatabase::Open(file());
    ASSERT_TRUE(database.ok()) << database.status();
    const absl::Status executed = database->Execute(sql);
    ASSERT_TRUE(executed.ok()) << executed;
  }

  /// Whether each of these jobs was written.
  std::vector<bool> WriteInOneBatch(const std::vector<std::uint64_t>& ids) {
    std::map<std::uint64_t, bool> written;
    {
      const auto store = Open();
      std::promise<void> began;
      std::promise<void> queued;
      store->WriteUndrained("w1", [&](const absl::Status&) {  // The store's thread waits here.
        began.set_value();
        queued.get_future().wait();
      });
      began.get_future().wait();
      for (const std::uint64_t id : ids) {
        store->WriteJobs({Record(id, proto::WAITING)},
                         [&written, id](const absl::Status& status) { written[id] = status.ok(); });
      }
      if (before_batch_) before_batch_();
      queued.set_value();
    }
    std::vector<bool> in_order;
    for (const std::uint64_t id : ids) in_order.push_back(written.at(id));
    return in_order;
  }

  std::vector<JobId> StoredJobs() {
    std::vector<JobId> ids;
    for (const JobRecord& job : Open()->TakeLoaded().jobs) ids.push_back(IdOf(job));
    return ids;
  }

  std::string file() const { return directory_.path() + "/jobs.sqlite"; }

  ScratchDirectory directory_;
  std::function<void()> before_batch_;
};

TEST_F(JobStoreTest, NobodyElseReadsTheJournal) {
  const auto store = Open();
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_EQ(entry.status().permissions() & std::filesystem::perms::all,
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)
        << entry.path();
  }
}

TEST_F(JobStoreTest, BeginsEmptyWithTheFirstTerm) {
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.term, 1u);
  EXPECT_TRUE(state.jobs.empty());
}

TEST_F(JobStoreTest, GivesBackWhatWasWritten) {
  EXPECT_TRUE(Write(*Open(), FullRecord()).ok());
  const StoredState state = Open()->TakeLoaded();
  ASSERT_EQ(state.jobs.size(), 1u);
  EXPECT_EQ(state.jobs[0].DebugString(), FullRecord().DebugString());
}

TEST_F(JobStoreTest, ALaterTransitionReplacesTheEarlier) {
  {
    const auto store = Open();
    EXPECT_TRUE(Write(*store, FullRecord()).ok());
    EXPECT_TRUE(Write(*store, Record(7, proto::WAITING)).ok());
  }
  const StoredState state = Open()->TakeLoaded();
  ASSERT_EQ(state.jobs.size(), 1u);
  EXPECT_EQ(state.jobs[0].DebugString(), Record(7, proto::WAITING).DebugString());
}

TEST_F(JobStoreTest, JobsComeByIdWhateverWasWrittenLast) {
  {
    const auto store = Open();
    for (const std::uint64_t id : {10, 9, 2, 10}) {
      EXPECT_TRUE(Write(*store, Record(id, proto::WAITING)).ok());
    }
  }
  EXPECT_EQ(StoredJobs(), (std::vector{JobId{2}, JobId{9}, JobId{10}}));
}

TEST_F(JobStoreTest, RecordsOfDifferentKindsHaveTheirOwnKeys) {
  {
    const auto store = Open();
    store->WriteJobs({Record(2, proto::WAITING)}, [](const absl::Status&) {});
    store->WriteCheckpoints(JobId{2}, "catalogue", [](const absl::Status&) {});
    store->WriteDrained("2", [](const absl::Status&) {});
    store->WriteParameters(2, "two", [](const absl::Status&) {});
  }
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.jobs.size(), 1u);
  EXPECT_EQ(state.checkpoints, (std::map<JobId, std::string>{{JobId{2}, "catalogue"}}));
  EXPECT_EQ(state.drained_nodes, std::vector<std::string>{"2"});
  EXPECT_EQ(state.parameters, std::vector<std::string>{"two"});
}

TEST_F(JobStoreTest, AStartMovesTheOldestOfManyEndedJobsIntoTheHistory) {
  {
    const auto store = Open();
    store->WriteJobs({Record(1, proto::WAITING)}, [](const absl::Status&) {});
    for (std::uint64_t id = 2; id <= kEndedJobsMax + 3; ++id) {
      store->WriteJobs({Record(id, proto::SUCCEEDED)}, [](const absl::Status&) {});
      if (id <= 4) store->WriteCheckpoints(JobId{id}, "catalogue", [](const absl::Status&) {});
    }
  }
  for (int start = 0; start < 2; ++start) {
    const auto store = Open();
    const StoredState state = store->TakeLoaded();
    ASSERT_EQ(state.jobs.size(), 1 + kEndedJobsMax);
    EXPECT_EQ(state.forgotten, JobId{3});
    EXPECT_EQ(IdOf(state.jobs[0]), JobId{1});
    EXPECT_EQ(state.checkpoints, (std::map<JobId, std::string>{{JobId{4}, "catalogue"}}));
    EXPECT_EQ(IdOf(state.jobs.back()), JobId{kEndedJobsMax + 3});
    EXPECT_EQ(HistoryIds(*store, 9, 9), (std::vector<std::uint64_t>{3, 2}));
  }
}

TEST_F(JobStoreTest, ArchivedJobsAreInTheHistoryAndNotInTheJournal) {
  {
    const auto store = Open();
    for (std::uint64_t id = 1; id <= 5; ++id)
      store->WriteJobs({Record(id, proto::FAILED)}, [](const absl::Status&) {});
    store->Archive({JobId{2}, JobId{4}, JobId{9}});
    store->Archive({JobId{1}, JobId{2}});
    EXPECT_EQ(HistoryIds(*store, 5, 9), (std::vector<std::uint64_t>{4, 2, 1}));
    EXPECT_EQ(HistoryIds(*store, 5, 2), (std::vector<std::uint64_t>{4, 2}));
  }
  const auto store = Open();
  const StoredState state = store->TakeLoaded();
  ASSERT_EQ(state.jobs.size(), 2u);
  EXPECT_EQ(state.forgotten, JobId{4});
  EXPECT_EQ(HistoryIds(*store, ~std::uint64_t{0}, 9), (std::vector<std::uint64_t>{4, 2, 1}));
}

TEST_F(JobStoreTest, ADamagedRecordOfTheHistoryIsNamedAndKeepsNoJob) {
  const std::string path = HistoryIn(directory_.path());
  {
    const auto store = Open();
    store->WriteJobs({Record(1, proto::FAILED)}, [](const absl::Status&) {});
    store->WriteJobs({Record(2, proto::WAITING)}, [](const absl::Status&) {});
    store->WriteJobs({Record(3, proto::FAILED)}, [](const absl::Status&) {});
    store->Archive({JobId{1}, JobId{3}});
  }
  {  // A row that SQLite finds in order.
    absl::StatusOr<SqliteDatabase> history = SqliteDatabase::Open(path);
    ASSERT_TRUE(history.ok()) << history.status();
    ASSERT_EQ(history->Execute("UPDATE jobs1 SET crc32c = crc32c + 1 WHERE id = 3"),
              absl::OkStatus());
  }
  {
    const auto store = Open();
    EXPECT_EQ(store->TakeLoaded().jobs.size(), 1u);
    std::promise<absl::StatusOr<HistoryPage>> read;
    store->ReadHistory(JobId{9}, 9, [&](auto page) { read.set_value(std::move(page)); });
    const absl::StatusOr<HistoryPage> page = read.get_future().get();
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->damaged, std::vector<JobId>{JobId{3}});
    ASSERT_EQ(page->records.size(), 1u);
    EXPECT_EQ(IdOf(page->records.front()), JobId{1});
  }
  {  // Who lists page by page goes on from the last id.
    absl::StatusOr<SqliteDatabase> history = SqliteDatabase::Open(path);
    ASSERT_EQ(history->Execute("UPDATE jobs1 SET id = -1 WHERE id = 1"), absl::OkStatus());
  }
  {
    const auto store = Open();
    std::promise<absl::StatusOr<HistoryPage>> read;
    store->ReadHistory(JobId{9}, 9, [&](auto page) { read.set_value(std::move(page)); });
    EXPECT_TRUE(absl::IsDataLoss(read.get_future().get().status()));
  }
  std::ofstream(path, std::ios::trunc) << "no database at all, but longer than nothing";
  const auto store = Open();
  EXPECT_EQ(store->TakeLoaded().jobs.size(), 1u);
  EXPECT_EQ(HistoryIds(*store, 9, 9), std::vector<std::uint64_t>{});
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
}

TEST_F(JobStoreTest, KeepsOneCatalogueOfCheckpointsAJob) {
  {
    const auto store = Open();
    store->WriteCheckpoints(JobId{1}, "first", [](const absl::Status&) {});
    store->WriteCheckpoints(JobId{2}, std::string("a\0b", 3), [](const absl::Status&) {});
    store->WriteCheckpoints(JobId{1}, "second", [](const absl::Status&) {});
    store->WriteCheckpoints(JobId{3}, "third", [](const absl::Status&) {});
    store->WriteCheckpoints(JobId{3}, "", [](const absl::Status&) {});
  }
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.checkpoints, (std::map<JobId, std::string>{{JobId{1}, "second"},
                                                             {JobId{2}, std::string("a\0b", 3)}}));
}

TEST_F(JobStoreTest, LeavesAJournalOfAnotherLayoutAloneAndSaysWhatToDo) {
  Open();
  for (const std::string layout : {"4", "6"}) {
    Execute("PRAGMA user_version=" + layout);
    const absl::Status refused = JobStore::Open(directory_.path(), AtOnce).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    for (const std::string& part : {file(), "layout " + layout, std::string("start that version"),
                                    std::string("another --state-dir")}) {
      EXPECT_NE(refused.message().find(part), std::string::npos) << part << " in " << refused;
    }
  }
  Execute("PRAGMA user_version=5");
  EXPECT_EQ(Open()->TakeLoaded().term, 2u);
}

TEST_F(JobStoreTest, ADamagedRecordIsAnErrorThatNamesIt) {
  EXPECT_TRUE(Write(*Open(), FullRecord()).ok());
  Execute("UPDATE records SET bytes = x'ff'");
  const absl::Status damaged = JobStore::Open(directory_.path(), AtOnce).status();
  EXPECT_TRUE(absl::IsDataLoss(damaged)) << damaged;
  EXPECT_NE(damaged.message().find("record job 7"), std::string::npos) << damaged;
}

TEST_F(JobStoreTest, RaisesTheTermAtEachStart) {
  EXPECT_EQ(Open()->TakeLoaded().term, 1u);
  EXPECT_EQ(Open()->TakeLoaded().term, 2u);
}

TEST_F(JobStoreTest, ClusterHasItsIdFromTheFirstStartOn) {
  const std::string cluster = Open()->TakeLoaded().cluster;
  EXPECT_EQ(cluster.size(), 32u);
  EXPECT_EQ(Open()->TakeLoaded().cluster, cluster);
  const ScratchDirectory elsewhere;
  auto other = JobStore::Open(elsewhere.path(), AtOnce);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE((*other)->TakeLoaded().cluster, cluster);
}

TEST_F(JobStoreTest, ClosingWritesWhatIsQueued) {
  std::atomic<int> done = 0;
  {
    const auto store = Open();
    for (std::uint64_t id = 1; id <= 100; ++id) {
      store->WriteJobs({Record(id, proto::WAITING)}, [&](const absl::Status& status) {
        if (status.ok()) done += 1;
      });
    }
  }
  EXPECT_EQ(done, 100);
  EXPECT_EQ(Open()->TakeLoaded().jobs.size(), 100u);
}

// ---- What fails ---------------------------------------------------------------------------------

TEST_F(JobStoreTest, ARecordThatFailsFailsAlone) {
  Refuse("NEW.key = '3'", "ABORT");
  EXPECT_EQ(WriteInOneBatch({2, 3, 4}), (std::vector{true, false, true}));
  EXPECT_EQ(StoredJobs(), (std::vector{JobId{2}, JobId{4}}));
}

TEST_F(JobStoreTest, ARecordThatEndsTheTransactionFailsTheWholeBatch) {
  Refuse("NEW.key = '3'", "ROLLBACK");
  EXPECT_EQ(WriteInOneBatch({2, 3, 4}), (std::vector{false, false, false}));
  EXPECT_EQ(StoredJobs(), std::vector<JobId>{});
}

TEST_F(JobStoreTest, ACommitThatFailsFailsTheWholeBatch) {
  Open();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  before_batch_ = [nothing = before]() mutable {
    nothing.rlim_cur = 1;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &nothing), 0);
  };
  EXPECT_EQ(WriteInOneBatch({2, 3, 4}), (std::vector{false, false, false}));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(StoredJobs(), std::vector<JobId>{});
}

TEST_F(JobStoreTest, KeepsDrainedNodesAndParameters) {
  {
    const auto store = Open();
    store->WriteDrained("w1", [](const absl::Status&) {});
    store->WriteDrained("w2", [](const absl::Status&) {});
    store->WriteUndrained("w1", [](const absl::Status&) {});
    store->WriteParameters(2, "old", [](const absl::Status&) {});
    store->WriteParameters(4, "four", [](const absl::Status&) {});
    store->WriteParameters(2, "new", [](const absl::Status&) {});
  }
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.drained_nodes, std::vector<std::string>{"w2"});
  EXPECT_EQ(state.parameters, (std::vector<std::string>{"four", "new"}));
}

TEST_F(JobStoreTest, ASecondCoordinatorIsRefused) {
  const auto first = Open();
  const auto second = JobStore::Open(directory_.path(), AtOnce);
  ASSERT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_NE(std::string(second.status().message()).find("in use by another coordinator"),
            std::string::npos);
}

TEST_F(JobStoreTest, ADamagedFileIsAnErrorThatNamesIt) {
  std::ofstream(file()) << std::string(8192, 'x');
  const auto store = JobStore::Open(directory_.path(), AtOnce);
  ASSERT_TRUE(absl::IsDataLoss(store.status())) << store.status();
  EXPECT_NE(std::string(store.status().message()).find(file()), std::string::npos);
}

TEST_F(JobStoreTest, ATornFileIsAnError) {
  {
    const auto store = Open();
    for (std::uint64_t id = 1; id <= 200; ++id) {
      store->WriteJobs({Record(id, proto::WAITING)}, [](const absl::Status&) {});
    }
  }
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
  EXPECT_TRUE(absl::IsDataLoss(JobStore::Open(directory_.path(), AtOnce).status()));
}

TEST_F(JobStoreTest, ADirectoryThatDoesNotExistIsAnError) {
  EXPECT_FALSE(JobStore::Open(directory_.path() + "/nowhere", AtOnce).ok());
}

}  // namespace
}  // namespace bspnow::coordinator
