#include "coordinator/journal/journal_repair.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "coordinator/journal/job_store.h"
#include "coordinator/journal/sqlite_database.h"

namespace bspnow::coordinator {
namespace {

void AtOnce(const Timers::Event& event) { event(); }

class JournalRepairTest : public testing::Test {
 protected:
  JournalRepairTest() : state_(*StateDirectory::Open(directory_.path())) {}

  /// A run of a coordinator that stores these jobs; returns the cluster's id.
  std::string Run(const std::vector<std::uint64_t>& jobs) {
    auto store = JobStore::Open(directory_.path(), AtOnce);
    EXPECT_TRUE(store.ok()) << store.status();
    for (const std::uint64_t id : jobs) {
      JobRecord record;
      record.set_submission_key("key" + std::to_string(id));
      record.mutable_job()->set_job(id);
      record.mutable_job()->set_state(proto::WAITING);
      (*store)->WriteJobs({record}, [](const absl::Status& s) { EXPECT_TRUE(s.ok()) << s; });
    }
    return (*store)->TakeLoaded().cluster;
  }
  StoredState Load() { return (*JobStore::Open(directory_.path(), AtOnce))->TakeLoaded(); }
  absl::Status Refusal() { return JobStore::Open(directory_.path(), AtOnce).status(); }

  void Execute(const std::string& sql) {
    EXPECT_TRUE(SqliteDatabase::OpenUnchecked(journal_)->Execute(sql).ok());
  }
  void ExpectRebuilt() {
    const absl::Status refusal = Refusal();
    EXPECT_TRUE(absl::IsDataLoss(refusal)) << refusal;
    EXPECT_NE(refusal.message().find("--rebuild"), std::string::npos) << refusal;
    EXPECT_FALSE(CheckJournal(state_).sound.ok());
    const bool was_there = std::filesystem::exists(journal_);
    const auto rebuilt = RebuildJournal(state_, "");
    ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
    const auto says_where = [](const std::string& line) { return line.ends_with(".damaged"); };
    EXPECT_EQ(std::any_of(rebuilt->begin(), rebuilt->end(), says_where), was_there);
    EXPECT_TRUE(CheckJournal(state_).sound.ok()) << CheckJournal(state_).sound;
  }

  const ScratchDirectory directory_;
  const StateDirectory state_;
  const std::string journal_ = JournalIn(directory_.path());
};

TEST_F(JournalRepairTest, ASoundJournalStays) {
  Run({1, 2});
  EXPECT_TRUE(CheckJournal(state_).sound.ok());
  EXPECT_TRUE(RebuildJournal(state_, "").ok());
  EXPECT_FALSE(std::filesystem::exists(journal_ + ".damaged"));
  EXPECT_EQ(Load().term, 2u);
}

TEST_F(JournalRepairTest, ALostJournalComesBackFromItsCopy) {
  const std::string cluster = Run({1, 2, 3});
  std::filesystem::remove(journal_);
  ExpectRebuilt();
  const StoredState state = Load();
  EXPECT_EQ(state.cluster, cluster);
  EXPECT_EQ(state.term, 2u);
  EXPECT_EQ(state.jobs.size(), 3u);
}

TEST_F(JournalRepairTest, AnEmptyFileIsALostJournal) {
  Run({1});
  std::filesystem::resize_file(journal_, 0);
  ExpectRebuilt();
  EXPECT_EQ(Load().jobs.size(), 1u);
}

TEST_F(JournalRepairTest, AJournalThatWasCutComesBackFromItsCopy) {
  std::vector<std::uint64_t> jobs(300);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = i + 1;
  Run(jobs);
  std::filesystem::resize_file(journal_, std::filesystem::file_size(journal_) / 2);
  ExpectRebuilt();
  EXPECT_EQ(Load().jobs.size(), 300u);
  EXPECT_TRUE(std::filesystem::exists(journal_ + ".damaged"));
}

TEST_F(JournalRepairTest, WhatWasThereBeforeIsKeptEachTime) {
  Run({1});
  for (const char* const name : {".damaged", ".damaged.2", ".damaged.3"}) {
    std::ofstream(journal_, std::ios::trunc) << "what is there before " << name;
    const auto rebuilt = RebuildJournal(state_, "");
    ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
    EXPECT_TRUE(std::any_of(rebuilt->begin(), rebuilt->end(), [&](const std::string& line) {
      return line.ends_with("what was there is " + journal_ + name);
    }));
    std::string text;
    std::getline(std::ifstream(journal_ + name), text);
    EXPECT_EQ(text, std::string("what is there before ") + name);
  }
}

TEST_F(JournalRepairTest, AnOlderJournalIsNoticedAndTheNewerCopyCounts) {
  Run({1});
  std::filesystem::copy_file(journal_, journal_ + ".old");
  Run({2});
  std::filesystem::rename(journal_ + ".old", journal_);
  ExpectRebuilt();
  const StoredState state = Load();
  EXPECT_EQ(state.jobs.size(), 2u);
  EXPECT_EQ(state.term, 3u);
}

TEST_F(JournalRepairTest, ADamagedRecordIsTakenFromTheCopy) {
  Run({1, 2});
  Execute("UPDATE records SET bytes = x'' WHERE key = '2'");
  ExpectRebuilt();
  EXPECT_EQ(Load().jobs.size(), 2u);
}

TEST_F(JournalRepairTest, DamagedCountersAreTakenFromTheCopy) {
  for (const char* const counter : {"term", "changes", "forgotten"}) {
    SCOPED_TRACE(counter);
    Run({1, 2});
    const std::uint64_t term = Load().term;
    Execute(std::string("UPDATE counters SET value = value + 4096 WHERE name = '") + counter + "'");
    ExpectRebuilt();
    const StoredState state = Load();
    EXPECT_EQ(state.term, term + 1);
    EXPECT_EQ(state.forgotten, JobId{0});
    EXPECT_EQ(state.jobs.size(), 2u);
    std::filesystem::remove(journal_ + ".damaged");
  }
}

// As older coordinators have written it.
TEST_F(JournalRepairTest, CountersWithoutASealAreSealed) {
  Run({1});
  Execute("DELETE FROM counters WHERE name = 'seal'");
  EXPECT_TRUE(CheckJournal(state_).sound.ok());
  EXPECT_EQ(Load().jobs.size(), 1u);
  Execute("UPDATE counters SET value = value + 4096 WHERE name = 'term'");
  EXPECT_TRUE(absl::IsDataLoss(CheckJournal(state_).sound));
}

TEST_F(JournalRepairTest, ADamagedCopyHarmsNobody) {
  Run({1, 2});
  std::ofstream(CopyOf(journal_)) << std::string(5000, 'x');
  EXPECT_TRUE(CheckJournal(state_).sound.ok());
  EXPECT_EQ(Load().jobs.size(), 2u);
  std::filesystem::remove(journal_);
  ExpectRebuilt();
  EXPECT_EQ(Load().jobs.size(), 2u);
}

TEST_F(JournalRepairTest, WithoutACopySomebodyMustSayWhichClusterItWas) {
  Run({1});
  std::filesystem::create_directory(state_.job(JobId{1}));
  std::filesystem::remove(journal_);
  std::filesystem::remove(CopyOf(journal_));
  EXPECT_TRUE(absl::IsDataLoss(Refusal())) << Refusal();
  EXPECT_TRUE(absl::IsFailedPrecondition(RebuildJournal(state_, "").status()));
  const auto rebuilt = RebuildJournal(state_, "c1");
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_NE(rebuilt->back().find("job 1 has a directory"), std::string::npos) << rebuilt->back();
  EXPECT_EQ(Load().cluster, "c1");
}

TEST_F(JournalRepairTest, ACoordinatorThatRunsIsLeftAlone) {
  Run({1});
  const auto running = JobStore::Open(directory_.path(), AtOnce);
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckJournal(state_).sound));
  EXPECT_TRUE(absl::IsFailedPrecondition(RebuildJournal(state_, "").status()));
}

TEST_F(JournalRepairTest, AJournalOfAnotherClusterIsNotMixedWithTheCopy) {
  Run({1});
  const ScratchDirectory elsewhere;
  { EXPECT_TRUE(JobStore::Open(elsewhere.path(), AtOnce).ok()); }
  std::filesystem::copy_file(JournalIn(elsewhere.path()), journal_,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(absl::IsDataLoss(Refusal())) << Refusal();
  EXPECT_TRUE(absl::IsFailedPrecondition(RebuildJournal(state_, "").status()));
}

// Of a directory with the copy alone.
TEST_F(JournalRepairTest, WhatRootRebuildsTheServiceOpens) {
  constexpr uid_t kService = 4711;
  Run({1});
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
    if (entry.path() != CopyOf(journal_)) std::filesystem::remove_all(entry.path());
  for (const std::string& path : {directory_.path(), CopyOf(journal_)})
    if (chown(path.c_str(), kService, kService) != 0)
      GTEST_SKIP() << "nobody but root gives files away";
  ASSERT_TRUE(RebuildJournal(*StateDirectory::OpenExisting(directory_.path()), "").ok());
  ASSERT_EQ(seteuid(kService), 0);
  const absl::Status entered = StateDirectory::Open(directory_.path()).status();
  const absl::Status opened = JobStore::Open(directory_.path(), AtOnce).status();
  std::error_code failed;
  std::filesystem::create_directory(directory_.path() + "/jobs/1", failed);
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(entered.ok()) << entered;
  EXPECT_TRUE(opened.ok()) << opened;
  EXPECT_FALSE(failed) << failed.message();
}

}  // namespace
}  // namespace bspnow::coordinator
