// What one job has done over time, for pictures: what each stretch of it was spent on, and where
// checkpoints and recoveries lie. It has an end: when there are too many stretches, neighbours are
// joined, so a long job is shown as whole as a short one, and only more coarsely.
#ifndef COORDINATOR_WEB_JOB_SERIES_H_
#define COORDINATOR_WEB_JOB_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// One or more supersteps, and what they took. Times as in proto::JobTotals.
struct SeriesStretch {
  std::int64_t begin_unix_ms = 0;
  std::int64_t end_unix_ms = 0;
  std::uint64_t supersteps = 0;
  std::uint64_t compute_ns = 0;
  std::uint64_t waiting_ns = 0;
  std::uint64_t release_ns = 0;
  std::uint64_t exchange_ns = 0;
  std::uint64_t w_ns = 0;
  std::uint64_t h_bytes = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t messages = 0;
};

struct SeriesMark {
  enum class Kind { kCheckpoint, kRecovery };
  Kind kind;
  std::int64_t unix_ms;
  std::uint64_t superstep;
};

class JobSeries {
 public:
  static constexpr std::size_t kStretchesMax = 400;
  static constexpr std::size_t kMarksMax = 64;

  /// A job as it is at that time, again and again. The first time of an epoch, whatever has begun
  /// it, counts only as a beginning.
  void Add(std::int64_t unix_ms, Epoch epoch, const proto::JobTotals& totals);

  /// The last one that was committed; nothing new if it is the one of last time.
  void AddCheckpoint(std::uint64_t number, std::int64_t unix_ms, Superstep superstep);

  /// From what losses the job has recovered, as it is shown; nothing new if it is none.
  void AddRecoveries(const proto::Job& job);

  /// How far somebody has it.
  struct Seen {
    std::uint64_t changes = 0;  ///< 0: nothing.
    std::uint64_t joins = 0;
    std::size_t stretches = 0;
  };
  /// What has changed since, in JSON: {"from":2,"stretches":[[...]],"marks":[[...]]}, for which
  /// those from number 2 on are replaced; empty if nothing has. A stretch is its members, in their
  /// order; a mark its kind ("checkpoint", "recovery"), time and superstep. Updates `seen`.
  std::string Since(Seen& seen) const;

  const std::vector<SeriesStretch>& stretches() const { return stretches_; }
  const std::vector<SeriesMark>& marks() const { return marks_; }

 private:
  void AddMark(SeriesMark mark);

  std::vector<SeriesStretch> stretches_;
  std::vector<SeriesMark> marks_;
  std::int64_t since_unix_ms_ = 0;  ///< When there was last more to add; 0: nothing yet.
  Epoch epoch_{0};
  proto::JobTotals totals_;
  std::uint64_t checkpoint_ = 0;
  std::int64_t lost_unix_ms_ = 0;  ///< Of the last loss that has a mark; 0: none has.
  std::uint64_t changes_ = 1;
  std::uint64_t joins_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_JOB_SERIES_H_
