// The lanes of a job on this node: a TCP connection to each other node of the job, and the bulk
// lanes (runtime/link/bulk_plan.h), opened by the workers and then driven by the processes, which
// get them out of their mailbox (LaneHanding in runtime/link/link.h). The worker keeps its
// descriptors only to end them with the job: a child of a process may have copies.
#ifndef WORKER_EXCHANGE_JOB_LANES_H_
#define WORKER_EXCHANGE_JOB_LANES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/lane_connector.h"
#include "net/resolver.h"
#include "net/sending_stream.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "runtime/link/bulk_plan.h"
#include "runtime/link/lane.h"
#include "worker/exchange/job_plan.h"

namespace bspnow::worker {

/// What lanes are opened with; all of it the owner's, and stays.
struct LaneNetwork {
  EventLoop& loop;
  Resolver& resolver;
  const StreamKey& key;  ///< Of the cluster.
  SocketOptions socket;  ///< Those of streams.
  Integrity integrity = Integrity::kChecksums;
};

class JobLanes {
 public:
  /// LaneBody::number of a lane. Nodes whose frames are laid out otherwise want no such lane.
  static constexpr std::uint32_t NumberOnTheWire(std::uint32_t number) {
    static_assert(kBulkLanesMax < 1u << 16);
    return kLaneLayout << 16 | number;
  }

  /// Whether there are lanes for such a job: its nodes release themselves, they are several but
  /// few, and its calls are not checked. None if streams are encrypted: processes drive lanes, and
  /// have no key.
  static bool Has(const JobPlan& plan, const StreamKey& key);

  /// Begins to connect to all hosts with a higher number in the job, again and again until they
  /// welcome it. `self` is among the hosts of the plan.
  JobLanes(const JobPlan& plan, WorkerId self, const LaneNetwork& network);

  /// Shuts the lanes down.
  ~JobLanes();
  JobLanes(const JobLanes&) = delete;
  JobLanes& operator=(const JobLanes&) = delete;

  /// Whether a lane from there is missing. One that was taken is replaced, as long as no process
  /// has it: the other worker gave it up before it saw the Welcome.
  bool Wants(WorkerId from, std::uint32_t number) const;  ///< `number`: see NumberOnTheWire.
  void Take(WorkerId from, std::uint32_t number, UniqueFd socket);

  /// The lanes to all other hosts are open. The other nodes may not be as far.
  bool ready() const;

  /// If they are, and all other nodes have theirs: puts them into the mailbox, for each process of
  /// this node. Not earlier: descriptors that nobody has taken out yet count for whatever else is
  /// handed over for the same user, who may have as many under way as he may have open.
  /// False: that is not possible, or not any more, and they are shut down.
  [[nodiscard]] bool HandOver();

  /// Ends the connections, whoever holds copies of the descriptors. There are none any more.
  void ShutDown();

  /// The same, and says why in the log: the job does without, and its workers exchange everything.
  void GiveUp(const std::string& reason);

 private:
  enum class State { kOpening, kHanded, kEnded };

  /// To one other host, in the order of the mailbox.
  struct Lane {
    std::uint32_t number;  ///< 0, or of a bulk lane its place between the two hosts, plus 1.
    WorkerId worker;
    std::string node;
    std::string data_address;
    bool connects_here;  ///< This worker connects, not the other one.
    UniqueFd socket;
    std::unique_ptr<LaneConnector> connector;
    TimerId retry_timer = kNoTimer;
    std::uint32_t failures = 0;
  };

  void Connect(std::size_t index);
  void OnConnected(std::size_t index, absl::StatusOr<UniqueFd> socket);
  void OnFailed(std::size_t index, const absl::Status& failure);
  void Keep(Lane& lane, UniqueFd socket);

  const JobId job_;
  const Epoch epoch_;
  const WorkerId self_;
  const int mailbox_;
  const std::size_t processes_;  ///< Of the job, on this node.
  const StreamKey job_key_;
  const LaneNetwork network_;
  std::uint32_t bulk_lanes_ = 0;
  State state_ = State::kOpening;
  std::vector<Lane> lanes_;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_JOB_LANES_H_
