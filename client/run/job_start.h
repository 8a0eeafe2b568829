// From the command to the job that a coordinator has accepted. Connecting and submitting may wait
// for long, for a name server, a network, a coordinator that is stopped: so they do that on a
// thread, and the loop hears signals meanwhile.
#ifndef CLIENT_RUN_JOB_START_H_
#define CLIENT_RUN_JOB_START_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/cluster/jobs_stub.h"
#include "client/options/submission.h"
#include "net/event_loop.h"

namespace bspnow::client {

class JobStart {
 public:
  /// What is to be said to the user; on the loop's thread.
  using Say = std::function<void(const std::string& line)>;

  struct Order {
    CoordinatorPlace place;
    std::uint64_t patience_ms;   ///< For a coordinator that is not there.
    std::uint64_t reconnect_ms;  ///< For one that was lost, also later by Accepted::jobs.
    /// On the thread, before anything is sent.
    std::function<absl::StatusOr<Submission>()> make;
    /// What becomes of a job of which this program does not learn that it was accepted.
    std::string unseen;
  };

  struct Accepted {
    std::shared_ptr<JobsStub> jobs;
    std::string key;  ///< Of the submission.
    proto::SubmitJobReply reply;
  };

  JobStart(EventLoop& loop, Say say);
  ~JobStart();

  /// Runs the loop until the job is accepted, or that fails. After Interrupt: cancelled within a
  /// second, with what the user must know of the job, or without a word if there can be none. A
  /// thread may go on to wait then, in vain: who ends must not run destructors of what it uses.
  absl::StatusOr<Accepted> Run(const Order& order);

  /// From a callback of the loop, while Run does.
  void Interrupt();
  bool interrupted() const { return interrupted_; }

 private:
  struct Shared;
  struct Prepared;
  template <typename Result>
  std::optional<Result> Beside(std::function<Result()> work, std::uint64_t patience_ms);
  static absl::StatusOr<Prepared> Prepare(const Order& order,
                                          const std::shared_ptr<Shared>& shared);
  absl::Status CancelAccepted(const std::shared_ptr<JobsStub>& jobs,
                              const proto::SubmitJobReply& reply);

  EventLoop& loop_;
  const std::shared_ptr<Shared> shared_;
  bool interrupted_ = false;
  std::uint64_t interrupted_ns_ = 0;
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_JOB_START_H_
