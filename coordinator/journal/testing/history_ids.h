// For tests: which jobs a store's history has.
#ifndef COORDINATOR_JOURNAL_TESTING_HISTORY_IDS_H_
#define COORDINATOR_JOURNAL_TESTING_HISTORY_IDS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <vector>

#include "coordinator/journal/job_store.h"

namespace bspnow::coordinator {

using Ids = std::vector<std::uint64_t>;

/// The newest `count` of those before that one.
inline Ids HistoryIds(JobStore& store, std::uint64_t before, std::size_t count) {
  std::promise<Ids> read;
  store.ReadHistory(JobId{before}, count, [&](const auto& jobs) {
    EXPECT_TRUE(jobs.ok()) << jobs.status();
    Ids ids;
    if (jobs.ok())
      for (const JobRecord& job : jobs->records) ids.push_back(Value(IdOf(job)));
    read.set_value(ids);
  });
  return read.get_future().get();
}

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_JOURNAL_TESTING_HISTORY_IDS_H_
