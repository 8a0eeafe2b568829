// What `bsp top` shows: the cluster on a line, and what each job has done since the last look.
#ifndef CLIENT_VIEW_TOP_SCREEN_H_
#define CLIENT_VIEW_TOP_SCREEN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/view/text_table.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

struct TopSample {
  std::vector<proto::Job> jobs;
  proto::ListNodesReply nodes;
  std::uint64_t taken_ns;  ///< Monotonic.
  std::int64_t taken_unix_ms;
};

class TopScreen {
 public:
  /// The lines for a sample. Rates and shares are those since the sample before it, or, of a job
  /// that was not in it, since its start.
  std::string Show(const TopSample& sample, Colours colours);

 private:
  struct Earlier {
    proto::JobTotals totals;
    std::uint64_t taken_ns;
  };

  std::map<std::uint64_t, Earlier> earlier_;  ///< By job.
};

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_TOP_SCREEN_H_
