// What bsp-worker and the bsp-host of one job say to each other over a Unix socket
// (SOCK_SEQPACKET), one message a packet. Pure: bytes in, values out; a length is checked before it
// is believed.
//
// Down: the plan (with descriptors), signals, credit for output. Up: what happens to the processes.
// A close is an order, too: a bsp-host whose worker is gone kills everything and ends.
#ifndef WORKER_HOST_CHANNEL_H_
#define WORKER_HOST_CHANNEL_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "files/job_files.h"
#include "proto/host.pb.h"
#include "worker/process_host.h"

namespace bspnow {

/// Text of one message, and the whole packet.
inline constexpr std::size_t kHostTextBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kHostPacketBytesMax = kHostTextBytesMax + 4096;

/// A plan travels in a memfd of its own, since arguments and environment may be long.
inline constexpr std::size_t kHostPlanBytesMax = std::size_t{64} << 20;

/// The output that a bsp-host may have sent ahead of what the coordinator has acknowledged.
inline constexpr std::int64_t kOutputCreditBytes = std::int64_t{1} << 20;

/// What a piece of output takes of it: many small ones fill memory, too.
constexpr std::int64_t OutputCharge(std::size_t text_bytes) {
  constexpr std::int64_t kPieceBytes = 256;
  return static_cast<std::int64_t>(text_bytes) + kPieceBytes;
}

absl::StatusOr<proto::HostPlan> DecodePlan(std::string_view bytes);

/// The descriptors that come with a plan.
struct PlanDescriptors {
  int segment;
  int doorbell;  ///< Of a job on several nodes, or -1.
  int input;     ///< pid 0's standard input, or -1: it reads nothing.
};

/// A plan as it arrives.
struct ReceivedPlan {
  proto::HostPlan plan;
  UniqueFd segment;
  UniqueFd doorbell;
  UniqueFd input;
};

/// From bsp-host to worker.
struct HostReport {
  enum Kind : std::uint32_t {
    kStarted = 1,     ///< All processes run.
    kNotStarted = 2,  ///< `number`: the exit status that a shell would give; `text`: why.
    kBegun = 3,
    kOutput = 4,    ///< `number`: the stream, as in OutputStream of proto/jobs.proto.
    kExited = 5,    ///< `number`: wait status.
    kFinished = 6,  ///< Nothing of the job is left; bsp-host ends.
    // At a checkpoint first kSaving of all pids that take part; then, in any order, a kImage of
    // each and kFiles. `number`: the checkpoint; `text` of the last two: why not, or empty.
    kSaving = 7,
    kImage = 8,
    kFiles = 9,        ///< The archive of the job's directory; pid: as in its name.
    kNotResumed = 10,  ///< `text`: what bsp-restore says.
  };
  Kind kind;
  Pid pid{0};
  std::uint64_t number = 0;
  std::string text{};
  std::uint64_t output_bytes = 0;  ///< kOutput: where `text` belongs; kSaving: sent so far.
  std::uint64_t error_bytes = 0;   ///< kSaving.
  std::uint64_t file_bytes = 0;    ///< kImage.
  std::uint64_t cpu_ns = 0;        ///< kImage.
};

std::string Encode(const HostReport& report);
absl::StatusOr<proto::HostOrder> DecodeOrder(std::string_view packet);
absl::StatusOr<HostReport> DecodeReport(std::string_view packet);

/// Says in the plan which descriptors come with it. The socket is new and empty, so this does not
/// wait.
absl::Status SendPlan(int socket, proto::HostPlan plan, const PlanDescriptors& descriptors);

/// Waits for the plan.
absl::StatusOr<ReceivedPlan> ReceivePlan(int socket);

}  // namespace bspnow

#endif  // WORKER_HOST_CHANNEL_H_
