// A job on its way to the coordinator: the request, and the contents that travel with it.
#ifndef CLIENT_OPTIONS_SUBMISSION_H_
#define CLIENT_OPTIONS_SUBMISSION_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "client/cluster/content.h"
#include "client/cluster/jobs_stub.h"
#include "client/options/job_options.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

struct Submission {
  proto::SubmitJobRequest request;
  std::vector<Content> contents;
};

/// The job that `bsp submit` means. `program` is the file found for options.program.
absl::StatusOr<Submission> MakeSubmission(const JobOptions& options, const std::string& program);

/// The same for bsprun: the whole environment and, where it exists, the directory go along.
absl::StatusOr<Submission> MakeAttachedSubmission(const JobOptions& options,
                                                  const std::string& program);

proto::CheckpointPolicy PolicyOf(const CheckpointOption& option);

/// Uploads what is missing and submits.
absl::StatusOr<proto::SubmitJobReply> Submit(JobsStub& jobs, const Submission& submission,
                                             const JobsStub::Progress& progress);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_SUBMISSION_H_
