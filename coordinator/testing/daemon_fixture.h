// What the tests of the daemon share: a coordinator of their own, and what clients and workers say.
#ifndef COORDINATOR_TESTING_DAEMON_FIXTURE_H_
#define COORDINATOR_TESTING_DAEMON_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "base/testing/scratch_directory.h"
#include "coordinator/testing/daemon_process.h"
#include "coordinator/testing/peer_stub.h"

namespace bspnow::coordinator {

inline constexpr char kProgram[] = "hello";
inline constexpr char kSha256[] =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
/// Of the submissions: key-1, key-2, ...
inline constexpr char kKey[] = "key-";
inline constexpr std::uint32_t kReachedEnded = 4;

inline proto::JobSpec Spec() {
  proto::JobSpec spec;
  spec.set_nprocs(1);
  spec.mutable_program()->set_name("hello");
  spec.mutable_program()->set_sha256(kSha256);
  spec.add_arguments("hello");
  return spec;
}

inline proto::JobSpec AttachedSpec() {
  proto::JobSpec spec = Spec();
  spec.set_attached(true);
  return spec;
}

inline proto::WorkerEvent Output(const std::string& text) {
  proto::WorkerEvent event;
  event.mutable_output()->set_stream(proto::STDOUT);
  event.mutable_output()->set_text(text);
  return event;
}

inline proto::WorkerEvent Exited(int status) {
  proto::WorkerEvent event;
  event.mutable_exited()->set_reached(kReachedEnded);
  event.mutable_exited()->set_exit_status(status);
  return event;
}

inline proto::WorkerEvent Started() {
  proto::WorkerEvent event;
  event.mutable_started();
  return event;
}

inline proto::WorkerEvent Cleared() {
  proto::WorkerEvent event;
  event.mutable_cleared();
  return event;
}

inline proto::ReadLogRequest LogOf(JobId job) {
  proto::ReadLogRequest request;
  request.set_job(Value(job));
  request.set_follow(true);
  return request;
}

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() : daemon_(scratch_.path(), {}), client_(address()) {}

  std::string address() const { return daemon_.Address("listen"); }

  JobId Submit(const proto::JobSpec& spec) {
    EXPECT_TRUE(client_.Upload(kSha256, kProgram).ok());
    const auto job = client_.Submit(spec, kKey + std::to_string(++keys_));
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? *job : JobId{0};
  }

  /// Plays the rest of a job that has been started: it ends well.
  static void Finish(TestWorker& worker) {
    worker.Report(Exited(0));
    const auto order = worker.Take();
    ASSERT_TRUE(order.has_value());
    ASSERT_TRUE(order->has_end()) << order->ShortDebugString();
    worker.Report(Cleared());
  }

  const ScratchDirectory scratch_;
  DaemonProcess daemon_;
  TestClient client_;
  int keys_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_TESTING_DAEMON_FIXTURE_H_
