// Tells the user of a command that waits for a job's barrier, after a while, whom that waits for.
#ifndef CLIENT_BARRIER_NOTICE_H_
#define CLIENT_BARRIER_NOTICE_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "client/cluster/jobs_stub.h"

namespace bspnow::client {

/// For as long as it lives; a line on standard error when that is longer than 10 s.
class BarrierNotice {
 public:
  BarrierNotice(JobsStub& jobs, std::uint64_t job);

 private:
  void Say() const;

  JobsStub& jobs_;
  const std::uint64_t job_;
  std::mutex mutex_;  ///< Guards nothing: the thread's own end is what it waits for.
  std::condition_variable_any ended_;
  std::jthread thread_;  ///< Last: it uses what is above.
};

}  // namespace bspnow::client

#endif  // CLIENT_BARRIER_NOTICE_H_
