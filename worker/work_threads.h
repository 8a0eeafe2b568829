// A few threads for work that waits: fetching contents, copying and removing files. What they find
// out they post to the loop themselves.
#ifndef WORKER_WORK_THREADS_H_
#define WORKER_WORK_THREADS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bspnow::worker {

class WorkThreads {
 public:
  explicit WorkThreads(int threads);

  /// Waits for the work that has begun; the rest is dropped.
  ~WorkThreads();

  /// Begins in the order of the calls. From any thread.
  void Run(std::function<void()> work);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  ///< Guarded by mutex_.
  bool stopping_ = false;                      ///< Guarded by mutex_.
  std::vector<std::jthread> threads_;
};

/// Of a node. What moves whole images and files may take hours, and as many of them as there are
/// threads keep the next one waiting; but nothing else: a node that is slow to clear a job away is
/// given up.
struct NodeThreads {
  explicit NodeThreads(int of_each) : brief(of_each), transfers(of_each) {}

  WorkThreads brief;
  WorkThreads transfers;
};

}  // namespace bspnow::worker

#endif  // WORKER_WORK_THREADS_H_
