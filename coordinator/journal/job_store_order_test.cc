// In which order the journal's thread does what it is asked.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "coordinator/journal/job_store.h"

namespace bspnow::coordinator {
namespace {

// Anybody with a token may look at the history, as often as he likes.
TEST(JobStoreOrderTest, AWriteWaitsForOneReaderOfTheHistoryAtMost) {
  const ScratchDirectory directory;
  const auto store = JobStore::Open(directory.path(), [](Timers::Event event) { event(); });
  ASSERT_TRUE(store.ok()) << store.status();
  std::vector<std::string> order;
  std::promise<void> begun, go_on, done;
  const auto read = [&](const std::string& name, const std::function<void()>& then) {
    (*store)->ReadHistory(JobId{9}, 9, [&order, name, then](const auto&) {
      order.push_back(name);
      then();
    });
  };
  read("first", [&] {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  read("second", [&] {
    (*store)->WriteDrained("w1", [&](const absl::Status&) { order.push_back("write"); });
  });
  read("third", [] {});
  read("fourth", [&] { done.set_value(); });
  go_on.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector<std::string>{"first", "second", "write", "third", "fourth"}));
}

}  // namespace
}  // namespace bspnow::coordinator
