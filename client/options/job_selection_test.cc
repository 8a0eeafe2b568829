#include "client/options/job_selection.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

proto::Job JobOf(std::uint64_t id, const std::string& name, const std::string& user,
                 proto::JobState state) {
  proto::Job job;
  job.set_job(id);
  job.mutable_spec()->set_name(name);
  job.mutable_spec()->set_user(user);
  job.set_state(state);
  return job;
}

TEST(JobSelectionTest, ReadsIdsAndRanges) {
  const auto one = ParseIdRange("7");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->first, 7u);
  EXPECT_EQ(one->last, 7u);
  const auto some = ParseIdRange("3-7");
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->first, 3u);
  EXPECT_EQ(some->last, 7u);
}

TEST(JobSelectionTest, RefusesWhatIsNeither) {
  for (const char* text :
       {"", "x", "-", "3-", "-3", "7-3", "0", "3-x", "1-2-3", "3,4", "+3", " 3"}) {
    EXPECT_FALSE(ParseIdRange(text).ok()) << text;
  }
}

TEST(JobSelectionTest, NamesAJobOnceHoweverOftenItIsNamed) {
  EXPECT_EQ(IdsOf({{9, 9}, {5, 7}, {5, 5}, {6, 8}}), (std::vector<std::uint64_t>{9, 5, 6, 7, 8}));
  EXPECT_EQ(IdsOf({}), std::vector<std::uint64_t>());
}

TEST(JobSelectionTest, SelectsWhatAllOfItHoldsFor) {
  const proto::Job job = JobOf(5, "sort", "anna", proto::WAITING);
  EXPECT_TRUE((JobSelection{}.Selects(job)));
  EXPECT_TRUE((JobSelection{.ids = {{1, 2}, {5, 5}}}.Selects(job)));
  EXPECT_FALSE((JobSelection{.ids = {{1, 4}}}.Selects(job)));
  EXPECT_TRUE(
      (JobSelection{.name = "sort", .user = "anna", .states = {proto::WAITING}}.Selects(job)));
  EXPECT_TRUE((JobSelection{.states = {proto::RUNNING, proto::WAITING}}.Selects(job)));
  EXPECT_FALSE((JobSelection{.ids = {{5, 5}}, .name = "sor"}.Selects(job)));
  EXPECT_FALSE((JobSelection{.user = "bert"}.Selects(job)));
  EXPECT_FALSE((JobSelection{.states = {proto::RUNNING}}.Selects(job)));
}

TEST(JobSelectionTest, IdsAloneNeedNoList) {
  EXPECT_TRUE((JobSelection{.ids = {{5, 5}, {9, 9}}}.names_each()));
  EXPECT_FALSE((JobSelection{.ids = {{5, 6}}}.names_each()));
  EXPECT_FALSE((JobSelection{.ids = {{5, 5}}, .states = {proto::RUNNING}}.names_each()));
}

}  // namespace
}  // namespace bspnow::client
