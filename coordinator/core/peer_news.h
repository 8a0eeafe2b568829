// Tells each worker which others are up, so that it probes them: soon after one came or went, in
// one order for all that has happened since the last. See "Who reaches whom" in docs/design.md.
#ifndef COORDINATOR_CORE_PEER_NEWS_H_
#define COORDINATOR_CORE_PEER_NEWS_H_

#include <set>

#include "base/ids.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/ports.h"

namespace bspnow::coordinator {

class PeerNews {
 public:
  PeerNews(Timers& timers, Nodes& nodes) : timers_(timers), nodes_(nodes) {}
  ~PeerNews() { timers_.CancelTimer(timer_); }
  PeerNews(const PeerNews&) = delete;
  PeerNews& operator=(const PeerNews&) = delete;

  void OnUp(WorkerId worker);
  void OnLost(WorkerId worker);
  void OnMoved(WorkerId worker);

 private:
  void TellSoon();
  void Tell();

  Timers& timers_;
  Nodes& nodes_;
  std::set<WorkerId> came_;       ///< Since the last order,
  std::set<WorkerId> left_;       ///< and those that have gone.
  std::set<WorkerId> newcomers_;  ///< Have not been told of anybody.
  CoreTimer timer_ = kNoCoreTimer;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_PEER_NEWS_H_
