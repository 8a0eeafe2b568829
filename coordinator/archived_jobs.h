// Whose the jobs are that ended so long ago that they lie in the history, as far as something of
// them is kept. On the loop's thread.
#ifndef COORDINATOR_ARCHIVED_JOBS_H_
#define COORDINATOR_ARCHIVED_JOBS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/ports.h"
#include "coordinator/old_files.h"

namespace bspnow::coordinator {

class ArchivedJobs {
 public:
  using Done = std::function<void(KnownJobs)>;

  explicit ArchivedJobs(Journal& journal) : journal_(journal) {}

  /// Completes `jobs`, which the journal has, with those among `kept` that the history has. One
  /// call at a time. What is damaged there stays unknown, and is asked for again the next time.
  void AddTo(KnownJobs jobs, const std::vector<JobId>& kept, Done done);

 private:
  struct Search {
    KnownJobs jobs;
    std::set<JobId> wanted;  ///< Of which it is not known yet whether the history has them.
    Done done;
  };
  void Read(const std::shared_ptr<Search>& search, JobId before);
  void Finish(const Search& search);

  Journal& journal_;
  std::map<JobId, std::string> users_;  ///< Empty: the history does not have it.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ARCHIVED_JOBS_H_
