// Whether contents are here, asked for the loop: by a thread, since a job may have a thousand of
// them, and a disk may hang. Then those who submit wait, and nobody else does.
#ifndef COORDINATOR_CONTENT_CHECKS_H_
#define COORDINATOR_CONTENT_CHECKS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "coordinator/core/ports.h"
#include "coordinator/uploads.h"

namespace bspnow::coordinator {

class ContentChecks {
 public:
  /// One that is not here, or that this user has not sent; empty: there is none.
  using Missing = std::function<void(const std::string& sha256)>;

  /// `post`: for the outcomes. `uploads` outlives this.
  ContentChecks(const Uploads& uploads, PostEvent post);
  ~ContentChecks();  ///< Who still waits gets no answer.

  void FindMissing(const std::string& user, std::set<std::string> contents, Missing missing);

 private:
  struct Check {
    std::string user;
    std::set<std::string> contents;
    Missing missing;
  };
  void Run();
  std::string FirstMissing(const Check& check) const;

  const Uploads& uploads_;
  const PostEvent post_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Check> checks_;  ///< Guarded by mutex_. No more than there are calls.
  bool ending_ = false;       ///< Guarded by mutex_.
  std::jthread thread_;       ///< Last: it uses all of the above.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CONTENT_CHECKS_H_
