// What is checked of a request on a thread of gRPC, before the loop sees it. An element of a list
// takes a byte or two of a message and much more of the loop's time, and while the loop is busy
// with millions of them it renews nobody's lease.
#ifndef COORDINATOR_RPC_REQUEST_LIMITS_H_
#define COORDINATOR_RPC_REQUEST_LIMITS_H_

#include <absl/status/status.h>

#include <cstddef>

#include "base/ids.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

inline constexpr int kStatesMax = 100;  ///< A user may name one twice.
/// Of one log: what each process prints on two streams, and what is the service's own.
inline constexpr int kStreamEndsMax = 3 * static_cast<int>(kProcessesMax);

/// That a fetch names one by one: what a command line takes, and a few MiB here.
inline constexpr int kFetchedNamesMax = 100'000;

/// Of a request that comes whole. Most have a few fields.
template <typename Request>
inline constexpr std::size_t kCallBytesMax = std::size_t{64} << 10;
/// Whatever gRPC takes: their lists are limited otherwise, or they are of workers.
inline constexpr std::size_t kLongCallBytesMax = std::size_t{8} << 20;
template <>
inline constexpr std::size_t kCallBytesMax<proto::FindMissingBlobsRequest> = kLongCallBytesMax;
template <>
inline constexpr std::size_t kCallBytesMax<proto::SubmitJobRequest> = kLongCallBytesMax;
template <>
inline constexpr std::size_t kCallBytesMax<proto::ReadLogRequest> = kLongCallBytesMax;
template <>
inline constexpr std::size_t kCallBytesMax<proto::FetchFilesRequest> = kLongCallBytesMax;
template <>
inline constexpr std::size_t kCallBytesMax<proto::RegisterRequest> = kLongCallBytesMax;

/// Why this request is too large for the loop, or to be kept as long as a stream lasts. A
/// submission is checked whole.
absl::Status CheckLimits(const proto::SubmitJobRequest& request);
absl::Status CheckLimits(const proto::ListJobsRequest& request);
absl::Status CheckLimits(const proto::ReadLogRequest& request);
absl::Status CheckLimits(const proto::FindMissingBlobsRequest& request);
absl::Status CheckLimits(const proto::FetchFilesRequest& request);
absl::Status CheckLimits(const proto::ToJob& message);

/// Others have no lists that the loop copies or goes through.
template <typename Request>
absl::Status CheckLimits(const Request&) {
  return absl::OkStatus();
}

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_REQUEST_LIMITS_H_
