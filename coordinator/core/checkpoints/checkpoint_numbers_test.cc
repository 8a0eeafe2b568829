// No number of a checkpoint is given out twice, whatever journal a coordinator finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coordinator/core/checkpoints/job_checkpoints.h"

namespace bspnow::coordinator {
namespace {

/// Of all attempts for which a run of the coordinator needs no journal. They fail.
std::vector<std::uint64_t> NumbersOf(const JobCheckpoints::Plan& run) {
  JobCheckpoints job(run);
  job.Restore({.last_number = 1, .count = 1, .term = 1, .checkpoints = {}, .history = {}});
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < kAttemptsMax; ++i) {
    const auto asked = job.Ask({"a", "b"}, Hold::kNo, {});
    numbers.push_back(asked.value_or(JobCheckpoints::Asked{}).number);
    job.OnFailed("a", numbers.back(), "x");
  }
  return numbers;
}

// An older copy of the journal gives out a term again; a node that was away has the first one's.
TEST(CheckpointNumbersTest, AnotherRunOfTheSameTermGivesOthers) {
  const auto one = NumbersOf({.copies = 1, .term = 2, .term_key = 77});
  for (const std::uint64_t number : NumbersOf({.copies = 1, .term = 2, .term_key = 78'000}))
    EXPECT_EQ(std::count(one.begin(), one.end(), number), 0) << number;
}

std::uint64_t FirstOfNewJob(const JobCheckpoints::Plan& run) {
  return JobCheckpoints(run)
      .Ask({"a", "b"}, Hold::kNo, {})
      .value_or(JobCheckpoints::Asked{})
      .number;
}

// If the logs are an older copy, too, its own number may have been another job's.
TEST(CheckpointNumbersTest, ANewJobHasOthersThanOneOfItsNumberInAnotherRun) {
  const std::uint64_t first = FirstOfNewJob({.copies = 1, .term = 1, .term_key = 77});
  const std::uint64_t one = FirstOfNewJob({.copies = 1, .term = 2, .term_key = 77});
  const std::uint64_t another = FirstOfNewJob({.copies = 1, .term = 2, .term_key = 78'000});
  EXPECT_EQ(first, 1u) << "before a cluster's first term there was nobody";
  EXPECT_GT(one, first + kAttemptsMax);
  EXPECT_GT(another, one + kAttemptsMax);
}

TEST(CheckpointNumbersTest, ThoseOfALaterTermAreHigherWhateverItsKey) {
  const auto earlier = NumbersOf({.copies = 1, .term = 2, .term_key = kFirstNumbersOfTerm - 1});
  const auto later = NumbersOf({.copies = 1, .term = 3, .term_key = 0});
  EXPECT_GT(later.front(), earlier.back());
}

TEST(CheckpointNumbersTest, ThatTheJournalRefusesAreToBeStoredOnceMore) {
  JobCheckpoints job({.copies = 1, .term = 1});
  CheckpointOrders last;
  for (std::uint64_t i = 0; i < kAttemptsMax; ++i) {
    EXPECT_FALSE(job.NumbersToStore().has_value());
    const auto asked = job.Ask({"a", "b"}, Hold::kNo, {});
    ASSERT_TRUE(asked.has_value());
    last = job.OnFailed("a", asked->number, "x");
  }
  ASSERT_TRUE(last.numbers.has_value());
  EXPECT_FALSE(job.NumbersToStore().has_value()) << "it is under way";
  job.OnNumbersRefused();
  EXPECT_FALSE(job.Ask({"a", "b"}, Hold::kNo, {}).has_value());
  const auto again = job.NumbersToStore();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->last_number, last.numbers->last_number);
  job.OnNumbersStored();
  EXPECT_TRUE(job.Ask({"a", "b"}, Hold::kNo, {}).has_value());
}

}  // namespace
}  // namespace bspnow::coordinator
