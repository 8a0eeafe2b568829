#include "coordinator/rpc/request_limits.h"

#include <absl/strings/str_cat.h>
#include "coordinator/core/jobs/job_spec.h"

namespace bspnow::coordinator {
namespace {

absl::Status CheckSeen(int seen) {
  if (seen <= kStreamEndsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a log has at most ", kStreamEndsMax, " streams, and not ", seen));
}

}  // namespace

absl::Status CheckLimits(const proto::SubmitJobRequest& request) {
  return CheckJobSpec(request.spec());
}

absl::Status CheckLimits(const proto::ListJobsRequest& request) {
  if (request.states_size() <= kStatesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a list is of at most ", kStatesMax, " states, not ", request.states_size()));
}

absl::Status CheckLimits(const proto::ReadLogRequest& request) {
  return CheckSeen(request.seen_size());
}

absl::Status CheckLimits(const proto::FindMissingBlobsRequest& request) {
  if (request.sha256_size() <= kFilesMax + 1) return absl::OkStatus();  // And the program.
  return absl::ResourceExhaustedError(
      absl::StrCat("a job has at most ", kFilesMax, " files that travel with it; pack them"));
}

absl::Status CheckLimits(const proto::FetchFilesRequest& request) {
  if (request.names_size() <= kFetchedNamesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("at most ", kFetchedNamesMax, " files are named; without a name all come"));
}

absl::Status CheckLimits(const proto::ToJob& message) { return CheckSeen(message.seen_size()); }

}  // namespace bspnow::coordinator
