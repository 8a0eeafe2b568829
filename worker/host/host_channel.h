// What bsp-worker and the bsp-host of one job send each other over a Unix socket (SOCK_SEQPACKET),
// one message a packet: down the plan (with descriptors), then HostOrders; up WorkerEvents. What is
// received is checked here. Output that is longer than a packet comes in several, one after the
// other, and is joined here.
//
// A close is an order, too: a bsp-host whose worker is gone kills everything and ends.
#ifndef WORKER_HOST_HOST_CHANNEL_H_
#define WORKER_HOST_HOST_CHANNEL_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "proto/host.pb.h"
#include "proto/workers.pb.h"
#include "runtime/link/link.h"

namespace bspnow::worker {

/// Output in one event; in one packet; and the longest packet: CheckpointStored of as many
/// processes as there may be.
inline constexpr std::size_t kOutputTextBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kHostTextBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kStoredImageBytesMax = 49;
inline constexpr std::size_t kHostPacketBytesMax = std::size_t{200} << 10;
static_assert(kHostTextBytesMax + 4096 <= kHostPacketBytesMax);
static_assert(kProcessesOfNodeMax * kStoredImageBytesMax + 4096 <= kHostPacketBytesMax);

/// A plan travels in a memfd of its own, since arguments and environment may be long.
inline constexpr std::size_t kHostPlanBytesMax = std::size_t{64} << 20;

absl::StatusOr<proto::HostPlan> DecodePlan(std::string_view bytes);

/// The descriptors that come with a plan.
struct PlanDescriptors {
  int segment;
  int doorbell;  ///< Of a job on several nodes, or -1.
  int mailbox;   ///< The same.
  int input;     ///< pid 0's standard input, or -1: it reads nothing.
};

/// A plan as it arrives.
struct ReceivedPlan {
  proto::HostPlan plan;
  UniqueFd segment;
  UniqueFd doorbell;
  UniqueFd mailbox;
  UniqueFd input;
};

absl::StatusOr<proto::HostOrder> DecodeOrder(std::string_view packet);

/// Of those that bsp-host sends: JobStarted, JobNotStarted, ProcessBegun, ProcessOutput,
/// ProcessExited, RestoreFailed; CheckpointStored when everything is written and nothing durable
/// yet, or CheckpointFailed when nobody writes any more.
absl::StatusOr<proto::WorkerEvent> DecodeEvent(std::string_view packet);

/// Hands out events whole. Nothing but the next piece of a text comes between two of its pieces,
/// unless one was lost: the text is lost then, with output that comes next, but no other event.
class EventJoiner {
 public:
  /// Nothing while the rest is still to come; an error if this is no piece of the text.
  absl::StatusOr<std::optional<proto::WorkerEvent>> Add(proto::WorkerEvent event);

 private:
  std::optional<proto::WorkerEvent> begun_;
};

/// Says in the plan which descriptors come with it. The socket is new and empty, so this does not
/// wait.
absl::Status SendPlan(int socket, proto::HostPlan plan, const PlanDescriptors& descriptors);

/// Waits for the plan.
absl::StatusOr<ReceivedPlan> ReceivePlan(int socket);

}  // namespace bspnow::worker

#endif  // WORKER_HOST_HOST_CHANNEL_H_
