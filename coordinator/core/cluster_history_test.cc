// Jobs that ended long ago: they leave the memory and the journal for the history, and are listed
// and shown from there.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/cluster_fixture.h"

namespace bspnow::coordinator {
namespace {

JobRecord Record(std::uint64_t id, proto::JobState state) {
  JobRecord record;
  record.set_submission_key(absl::StrCat("key", id));
  record.mutable_job()->set_job(id);
  record.mutable_job()->set_state(state);
  record.mutable_job()->mutable_spec()->set_nprocs(2);
  return record;
}

class HistoryTest : public ClusterFixture {
 protected:
  /// 1 to 3 are in the history, 4, 6 and 7 in the journal; 6 waits.
  void SetUp() override {
    for (const std::uint64_t id : {1, 2, 3})
      world_.journal.history[JobId{id}] = Record(id, proto::FAILED);
    const std::vector<JobRecord> stored = {Record(4, proto::SUCCEEDED), Record(6, proto::WAITING),
                                           Record(7, proto::CANCELLED)};
    for (const JobRecord& record : stored) world_.journal.records[IdOf(record)] = record;
    Start(
        {.cluster = "c1", .term = 1, .last_job = JobId{7}, .forgotten = JobId{3}, .jobs = stored});
  }

  absl::StatusOr<proto::ListJobsReply> List(std::uint64_t before, std::uint32_t size) {
    proto::ListJobsRequest request;
    request.set_all(true);
    request.set_before(before);
    request.set_page_size(size);
    absl::StatusOr<proto::ListJobsReply> listed = absl::UnknownError("no answer");
    cluster_->List(request, [&](const auto& reply) { listed = reply; });
    Settle();
    return listed;
  }

  static std::vector<std::uint64_t> Ids(const absl::StatusOr<proto::ListJobsReply>& reply) {
    std::vector<std::uint64_t> ids;
    EXPECT_TRUE(reply.ok()) << reply.status();
    if (!reply.ok()) return ids;
    for (const proto::Job& job : reply->jobs()) ids.push_back(job.job());
    return ids;
  }

  absl::StatusOr<proto::Job> Recalled(JobId job) {
    std::optional<absl::StatusOr<proto::Job>> shown;
    cluster_->Recall(job, [&] { shown = cluster_->Show(job); });
    Settle();
    EXPECT_TRUE(shown.has_value());
    return shown.value_or(absl::UnknownError("no answer"));
  }
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(HistoryTest, AllJobsAreListedInPages) {
  const auto first = List(0, 2);
  EXPECT_EQ(Ids(first), (Numbers{7, 6}));
  const auto second = List(first->next(), 2);
  EXPECT_EQ(Ids(second), (Numbers{4, 3}));
  const auto third = List(second->next(), 2);
  EXPECT_EQ(Ids(third), (Numbers{2, 1}));
  EXPECT_EQ(Ids(List(third->next(), 2)), Numbers{});
  EXPECT_EQ(Ids(List(0, 0)), (Numbers{7, 6, 4, 3, 2, 1}));
  EXPECT_EQ(List(0, 0)->next(), 0u);
}

TEST_F(HistoryTest, OnlyJobsThatAreAskedForAreListed) {
  world_.journal.history[JobId{2}].mutable_job()->mutable_spec()->set_user("anna");
  world_.journal.history[JobId{2}].mutable_job()->set_ended_unix_ms(5000);
  world_.journal.history[JobId{3}].mutable_job()->set_ended_unix_ms(4999);
  const auto ids = [this](auto ask) {
    proto::ListJobsRequest request;
    request.set_all(true);
    ask(request);
    std::vector<std::uint64_t> ids;
    cluster_->List(request, [&](const auto& reply) { ids = Ids(reply); });
    Settle();
    return ids;
  };
  EXPECT_EQ(ids([](auto& r) { r.set_user("anna"); }), Numbers{2});
  EXPECT_EQ(ids([](auto& r) {
              r.add_states(proto::WAITING);
              r.add_states(proto::FAILED);
            }),
            (Numbers{6, 3, 2, 1}));
  EXPECT_EQ(ids([](auto& r) { r.set_since_unix_ms(5000); }), (Numbers{6, 2}));
  EXPECT_EQ(ids([](auto& r) {
              r.set_all(false);
              r.add_states(proto::FAILED);
            }),
            Numbers{});
}

TEST_F(HistoryTest, APageOfFewJobsSaysWhereTheNextOneBegins) {
  // In the journal there is one that is older than most of the history.
  for (std::uint64_t id = 8; id <= 2500; ++id)
    world_.journal.history[JobId{id}] = Record(id, id == 9 ? proto::FAILED : proto::SUCCEEDED);
  std::vector<JobRecord> stored = {Record(6, proto::FAILED), Record(2501, proto::FAILED)};
  Start({.cluster = "c1", .term = 2, .forgotten = JobId{2500}, .jobs = stored});
  proto::ListJobsRequest request;
  request.set_all(true);
  request.add_states(proto::FAILED);
  request.set_page_size(3);
  Numbers listed;
  int pages = 0;
  do {
    absl::StatusOr<proto::ListJobsReply> page = absl::UnknownError("no answer");
    cluster_->List(request, [&](const auto& reply) { page = reply; });
    Settle();
    for (const std::uint64_t id : Ids(page)) listed.push_back(id);
    request.set_before(page.ok() ? page->next() : 0);
    pages += 1;
  } while (request.before() != 0);
  EXPECT_EQ(listed, (Numbers{2501, 9, 6, 3, 2, 1}));
  EXPECT_LE(pages, 5);
}

TEST_F(HistoryTest, OneThatIsInBothPlacesIsListedOnce) {
  world_.journal.history[JobId{4}] = Record(4, proto::SUCCEEDED);
  EXPECT_EQ(Ids(List(0, 4)), (Numbers{7, 6, 4, 3}));
}

TEST_F(HistoryTest, JobsThatHaveNotEndedNeedNoHistory) {
  proto::ListJobsRequest request;
  bool answered = false;
  cluster_->List(request, [&](const absl::StatusOr<proto::ListJobsReply>& reply) {
    EXPECT_EQ(Ids(reply), Numbers{6});
    answered = true;
  });
  EXPECT_TRUE(answered);
}

TEST_F(HistoryTest, ADamagedHistoryIsNamed) {
  proto::ListJobsRequest request;
  request.set_all(true);
  absl::Status status;
  cluster_->List(request, [&](const auto& reply) { status = reply.status(); });
  Finish(world_.journal.calls, absl::DataLossError("history.sqlite is damaged"));
  EXPECT_EQ(status, absl::DataLossError("history.sqlite is damaged"));
}

TEST_F(HistoryTest, AnOldJobIsShown) {
  const absl::StatusOr<proto::Job> old = Recalled(JobId{2});
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->state(), proto::FAILED);
  EXPECT_EQ(Recalled(JobId{7})->state(), proto::CANCELLED);
  world_.journal.history.erase(JobId{2});
  EXPECT_TRUE(absl::IsNotFound(Recalled(JobId{2}).status()));
  EXPECT_TRUE(absl::IsNotFound(Recalled(JobId{8}).status()));
}

TEST_F(HistoryTest, AnOldJobHasEndedForWhoeverAsks) {
  bool asked = false;
  cluster_->Recall(JobId{2}, [&] {
    asked = true;
    EXPECT_EQ(cluster_->MayFetchFiles(JobId{2}), absl::OkStatus());
    EXPECT_EQ((**Cancel(JobId{2}))->state(), proto::FAILED);
    cluster_->Wait(JobId{2}, [](const absl::StatusOr<proto::Job>& job) {
      ASSERT_TRUE(job.ok()) << job.status();
      EXPECT_EQ(job->state(), proto::FAILED);
    });
    const Answer resumed = NewAnswer();
    cluster_->Resume(JobId{2}, Into(resumed));
    EXPECT_TRUE(absl::IsFailedPrecondition((*resumed)->status()));
  });
  Settle();
  EXPECT_TRUE(asked);
}

TEST_F(HistoryTest, TheOldestOfManyLeaveTheMemory) {
  const std::uint64_t last = kEndedJobsMax + kArchivedAtOnce + 5;
  for (std::uint64_t id = 8; id <= last; ++id) Cancel(Submit(Request(absl::StrCat("new", id))));
  Settle();
  EXPECT_EQ(cluster_->table().jobs().size(), kEndedJobsMax + 1);  // And one waits.
  ASSERT_EQ(world_.journal.history.size(), 3 + kArchivedAtOnce);
  EXPECT_EQ(Recalled(JobId{4})->state(), proto::SUCCEEDED);
  EXPECT_EQ(Recalled(JobId{900})->state(), proto::CANCELLED);
  EXPECT_EQ(Ids(List(6, 0)), (Numbers{4, 3, 2, 1}));
}

TEST_F(HistoryTest, ADamagedRecordIsPassedOverAndNamed) {
  world_.journal.damaged = {JobId{2}};
  const auto all = List(0, 0);
  EXPECT_EQ(Ids(all), (Numbers{7, 6, 4, 3, 1}));
  ASSERT_EQ(all->damaged_size(), 1);
  EXPECT_EQ(all->damaged(0), 2u);
  const auto first = List(4, 1);
  EXPECT_EQ(Ids(first), Numbers{3});
  EXPECT_EQ(first->damaged_size(), 0);
  const auto second = List(first->next(), 1);
  EXPECT_EQ(Ids(second), Numbers{});
  ASSERT_EQ(second->damaged_size(), 1) << "of the page on which it is";
  EXPECT_EQ(Ids(List(second->next(), 1)), Numbers{1});
  EXPECT_TRUE(absl::IsDataLoss(Recalled(JobId{2}).status()));
}

TEST_F(HistoryTest, ThatItCannotBeReadDoesNotSayThatThereIsNoSuchJob) {
  absl::Status status;
  cluster_->Recall(JobId{2}, [&] { status = cluster_->Show(JobId{2}).status(); });
  Finish(world_.journal.calls, absl::ResourceExhaustedError("too many open files"));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_NE(status.message().find("too many open files"), std::string::npos) << status;
}

}  // namespace
}  // namespace bspnow::coordinator
