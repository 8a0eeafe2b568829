#include "coordinator/journal/job_store.h"

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

#include "base/scratch_directory.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow {
namespace {

JobRecord Record(std::uint64_t id, JobPhase phase) {
  JobRecord record{.id = JobId{id}, .submission_key = "key" + std::to_string(id)};
  record.spec = std::string("\0spec", 5);
  record.phase = phase;
  return record;
}

JobRecord FullRecord() {
  JobRecord record = Record(7, JobPhase::kFailed);
  record.reason = "worker w3 lost";
  record.exit_status = 139;
  record.epoch = Epoch{2};
  record.shares = {NodeShare{.worker = WorkerId{3}, .pids = {Pid{0}, Pid{1}, Pid{2}}, .slots = 2},
                   NodeShare{.worker = WorkerId{1}, .pids = {Pid{3}}, .slots = 1}};
  record.node_names = {"w3", "w1"};
  record.submitted_unix_ms = 1;
  record.started_unix_ms = 2;
  record.ended_unix_ms = 3;
  record.never_attached = true;
  record.totals = std::string("\1\0\2", 3);
  record.cancelled = true;
  record.restarts = 5;
  record.restarts_in_row = 2;
  record.took_input = true;
  record.suspended_unix_ms = 4;
  record.suspended_ms = 6;
  record.losses = {JobLoss{.unix_ms = 7, .reason = "worker w3 lost", .superstep = Superstep{812}},
                   JobLoss{.unix_ms = 8,
                           .reason = "pid 1 was killed",
                           .superstep = Superstep{900},
                           .resumed = true,
                           .from_start = true,
                           .from = Superstep{800},
                           .after_ms = 1400}};
  return record;
}

class JobStoreTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> Open() {
    absl::StatusOr<std::unique_ptr<JobStore>> store = JobStore::Open(directory_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  static absl::Status Write(JobStore& store, const JobRecord& record) {
    std::promise<absl::Status> done;
    store.WriteJob(record, [&](const absl::Status& status) { done.set_value(status); });
    return done.get_future().get();
  }

  /// From now on the journal refuses rows of jobs in this way.
  void Refuse(const std::string& when, const std::string& how) {
    Open();
    auto database = SqliteDatabase::Open(file());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(database
                    ->Execute("CREATE TRIGGER refuses BEFORE INSERT ON jobs WHEN " + when +
                              " BEGIN SELECT RAISE(" + how + ", 'refused'); END")
                    .ok());
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
        store->WriteJob(Record(id, JobPhase::kWaiting),
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
    for (const JobRecord& job : Open()->TakeLoaded().jobs) ids.push_back(job.id);
    return ids;
  }

  std::string file() const { return directory_.path() + "/jobs.sqlite"; }

  ScratchDirectory directory_;
  std::function<void()> before_batch_;
};

TEST_F(JobStoreTest, BeginsEmptyWithTheFirstTermAndJob) {
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.term, 1u);
  EXPECT_EQ(state.next_job, JobId{1});
  EXPECT_TRUE(state.jobs.empty());
}

TEST_F(JobStoreTest, GivesBackWhatWasWritten) {
  EXPECT_TRUE(Write(*Open(), FullRecord()).ok());
  const StoredState state = Open()->TakeLoaded();
  ASSERT_EQ(state.jobs.size(), 1u);
  const JobRecord& read = state.jobs[0];
  const JobRecord written = FullRecord();
  EXPECT_EQ(read.id, written.id);
  EXPECT_EQ(read.submission_key, written.submission_key);
  EXPECT_EQ(read.spec, written.spec);
  EXPECT_EQ(read.phase, written.phase);
  EXPECT_EQ(read.reason, written.reason);
  EXPECT_EQ(read.exit_status, written.exit_status);
  EXPECT_EQ(read.epoch, written.epoch);
  EXPECT_EQ(read.node_names, written.node_names);
  ASSERT_EQ(read.shares.size(), 2u);
  EXPECT_EQ(read.shares[0].worker, WorkerId{3});
  EXPECT_EQ(read.shares[0].pids, written.shares[0].pids);
  EXPECT_EQ(read.shares[0].slots, 2u);
  EXPECT_EQ(read.shares[1].pids, written.shares[1].pids);
  EXPECT_EQ(read.submitted_unix_ms, 1);
  EXPECT_EQ(read.started_unix_ms, 2);
  EXPECT_EQ(read.ended_unix_ms, 3);
  EXPECT_TRUE(read.never_attached);
  EXPECT_EQ(read.totals, written.totals);
  EXPECT_TRUE(read.cancelled);
  EXPECT_EQ(read.restarts, 5u);
  EXPECT_EQ(read.restarts_in_row, 2u);
  EXPECT_TRUE(read.took_input);
  EXPECT_EQ(read.suspended_unix_ms, 4);
  EXPECT_EQ(read.suspended_ms, 6);
  ASSERT_EQ(read.losses.size(), 2u);
  EXPECT_EQ(read.losses[0].reason, "worker w3 lost");
  EXPECT_FALSE(read.losses[0].resumed);
  EXPECT_EQ(read.losses[1].unix_ms, 8);
  EXPECT_EQ(read.losses[1].superstep, Superstep{900});
  EXPECT_TRUE(read.losses[1].resumed);
  EXPECT_TRUE(read.losses[1].from_start);
  EXPECT_EQ(read.losses[1].from, Superstep{800});
  EXPECT_EQ(read.losses[1].after_ms, 1400u);
  EXPECT_EQ(state.next_job, JobId{8});
}

TEST_F(JobStoreTest, ALaterTransitionReplacesTheEarlier) {
  {
    const auto store = Open();
    EXPECT_TRUE(Write(*store, FullRecord()).ok());
    EXPECT_TRUE(Write(*store, Record(7, JobPhase::kWaiting)).ok());
  }
  const StoredState state = Open()->TakeLoaded();
  ASSERT_EQ(state.jobs.size(), 1u);
  EXPECT_EQ(state.jobs[0].phase, JobPhase::kWaiting);
  EXPECT_TRUE(state.jobs[0].shares.empty());
  EXPECT_TRUE(state.jobs[0].losses.empty());
}

TEST_F(JobStoreTest, KeepsOneCatalogueOfCheckpointsAJob) {
  {
    const auto store = Open();
    store->WriteCheckpoints(JobId{1}, "first", nullptr);
    store->WriteCheckpoints(JobId{2}, std::string("a\0b", 3), nullptr);
    store->WriteCheckpoints(JobId{1}, "second", nullptr);
    store->WriteCheckpoints(JobId{3}, "third", nullptr);
    store->WriteCheckpoints(JobId{3}, "", nullptr);
  }
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.checkpoints, (std::map<JobId, std::string>{{JobId{1}, "second"},
                                                             {JobId{2}, std::string("a\0b", 3)}}));
}

// As the first release wrote it.
TEST_F(JobStoreTest, TakesOverAJournalOfSchema1) {
  {
    auto database = SqliteDatabase::Open(file());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(database
                    ->Execute(R"(
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY, submission_key TEXT NOT NULL UNIQUE, spec BLOB NOT NULL,
  phase INTEGER NOT NULL, reason TEXT NOT NULL, exit_status INTEGER NOT NULL,
  epoch INTEGER NOT NULL, submitted_unix_ms INTEGER NOT NULL, started_unix_ms INTEGER NOT NULL,
  ended_unix_ms INTEGER NOT NULL, never_attached INTEGER NOT NULL, totals BLOB NOT NULL);
CREATE TABLE shares (
  job INTEGER NOT NULL, ordinal INTEGER NOT NULL, worker INTEGER NOT NULL, node TEXT NOT NULL,
  first_pid INTEGER NOT NULL, pids INTEGER NOT NULL, slots INTEGER NOT NULL,
  PRIMARY KEY (job, ordinal)) WITHOUT ROWID;
CREATE TABLE drained (node TEXT PRIMARY KEY);
CREATE TABLE parameters (
  id INTEGER PRIMARY KEY AUTOINCREMENT, p INTEGER NOT NULL UNIQUE, parameters BLOB NOT NULL);
INSERT INTO counters VALUES ('term', 4), ('next_job', 9);
INSERT INTO jobs VALUES (7, 'key7', x'00ff', 2, 'why', 3, 2, 10, 11, 12, 1, x'01');
INSERT INTO shares VALUES (7, 0, 3, 'w3', 0, 2, 2);
INSERT INTO drained VALUES ('w2');
PRAGMA user_version=1;)")
                    .ok());
  }
  for (const std::uint64_t term : {5u, 6u}) {
    const StoredState state = Open()->TakeLoaded();
    EXPECT_EQ(state.term, term);
    EXPECT_EQ(state.cluster.size(), 32u);
    EXPECT_EQ(state.next_job, JobId{9});
    EXPECT_EQ(state.drained_nodes, std::vector<std::string>{"w2"});
    ASSERT_EQ(state.jobs.size(), 1u);
    const JobRecord& job = state.jobs[0];
    EXPECT_EQ(job.spec, std::string("\0\xff", 2));
    EXPECT_EQ(job.phase, JobPhase::kRunning);
    EXPECT_EQ(job.epoch, Epoch{2});
    EXPECT_EQ(job.ended_unix_ms, 12);
    EXPECT_TRUE(job.never_attached);
    EXPECT_EQ(job.totals, "\1");
    EXPECT_EQ(job.node_names, std::vector<std::string>{"w3"});
    EXPECT_FALSE(job.cancelled);
    EXPECT_EQ(job.restarts, 0u);
    EXPECT_TRUE(job.losses.empty());
  }
}

TEST_F(JobStoreTest, LeavesAJournalOfALaterSchemaAlone) {
  Open();
  {
    auto database = SqliteDatabase::Open(file());
    ASSERT_TRUE(database.ok() && database->Execute("PRAGMA user_version=99").ok());
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(JobStore::Open(directory_.path()).status()));
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
  auto other = JobStore::Open(elsewhere.path());
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE((*other)->TakeLoaded().cluster, cluster);
}

TEST_F(JobStoreTest, TakesOverAJournalOfSchema2) {
  Write(*Open(), FullRecord()).IgnoreError();
  {
    auto database = SqliteDatabase::Open(file());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(database->Execute("DROP TABLE cluster; PRAGMA user_version=2").ok());
  }
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.cluster.size(), 32u);
  EXPECT_EQ(state.term, 2u);
  ASSERT_EQ(state.jobs.size(), 1u);
  EXPECT_EQ(state.jobs[0].losses.size(), 2u);
}

TEST_F(JobStoreTest, ClosingWritesWhatIsQueued) {
  std::atomic<int> done = 0;
  {
    const auto store = Open();
    for (std::uint64_t id = 1; id <= 100; ++id) {
      store->WriteJob(Record(id, JobPhase::kWaiting), [&](const absl::Status& status) {
        if (status.ok()) done += 1;
      });
    }
  }
  EXPECT_EQ(done, 100);
  EXPECT_EQ(Open()->TakeLoaded().jobs.size(), 100u);
}

// ---- What fails ---------------------------------------------------------------------------------

TEST_F(JobStoreTest, ARowThatFailsFailsAlone) {
  Refuse("NEW.id = 3", "ABORT");
  EXPECT_EQ(WriteInOneBatch({2, 3, 4}), (std::vector{true, false, true}));
  EXPECT_EQ(StoredJobs(), (std::vector{JobId{2}, JobId{4}}));
}

TEST_F(JobStoreTest, ARowThatEndsTheTransactionFailsTheWholeBatch) {
  Refuse("NEW.id = 3", "ROLLBACK");
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
    store->WriteDrained("w1", nullptr);
    store->WriteDrained("w2", nullptr);
    store->WriteUndrained("w1", nullptr);
    store->WriteParameters(2, "old", nullptr);
    store->WriteParameters(4, "four", nullptr);
    store->WriteParameters(2, "new", nullptr);
  }
  const StoredState state = Open()->TakeLoaded();
  EXPECT_EQ(state.drained_nodes, std::vector<std::string>{"w2"});
  EXPECT_EQ(state.parameters, (std::vector<std::string>{"four", "new"}));
}

TEST_F(JobStoreTest, ASecondCoordinatorIsRefused) {
  const auto first = Open();
  const auto second = JobStore::Open(directory_.path());
  ASSERT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_NE(std::string(second.status().message()).find("in use by another coordinator"),
            std::string::npos);
}

TEST_F(JobStoreTest, ADamagedFileIsAnErrorThatNamesIt) {
  std::ofstream(file()) << std::string(8192, 'x');
  const auto store = JobStore::Open(directory_.path());
  ASSERT_TRUE(absl::IsDataLoss(store.status())) << store.status();
  EXPECT_NE(std::string(store.status().message()).find(file()), std::string::npos);
}

TEST_F(JobStoreTest, ATornFileIsAnError) {
  {
    const auto store = Open();
    for (std::uint64_t id = 1; id <= 200; ++id) {
      store->WriteJob(Record(id, JobPhase::kWaiting), nullptr);
    }
  }
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
  EXPECT_TRUE(absl::IsDataLoss(JobStore::Open(directory_.path()).status()));
}

TEST_F(JobStoreTest, ADirectoryThatDoesNotExistIsAnError) {
  EXPECT_FALSE(JobStore::Open(directory_.path() + "/nowhere").ok());
}

TEST_F(JobStoreTest, TwoJobsWithOneSubmissionKeyAreNeverBothThere) {
  {
    const auto store = Open();
    EXPECT_TRUE(Write(*store, Record(1, JobPhase::kWaiting)).ok());
    JobRecord second = Record(2, JobPhase::kWaiting);
    second.submission_key = "key1";
    EXPECT_FALSE(Write(*store, second).ok());
    EXPECT_TRUE(Write(*store, Record(3, JobPhase::kWaiting)).ok());
  }
  const StoredState state = Open()->TakeLoaded();
  ASSERT_EQ(state.jobs.size(), 2u);
  EXPECT_EQ(state.jobs[0].id, JobId{1});
  EXPECT_EQ(state.jobs[1].id, JobId{3});
}

}  // namespace
}  // namespace bspnow
