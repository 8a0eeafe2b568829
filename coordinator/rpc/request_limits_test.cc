#include "coordinator/rpc/request_limits.h"

#include <gtest/gtest.h>

#include <string>

#include "coordinator/core/jobs/job_spec.h"

namespace bspnow::coordinator {
namespace {

TEST(RequestLimitsTest, AListIsOfAFewStates) {
  proto::ListJobsRequest request;
  for (int i = 0; i < kStatesMax; ++i) request.add_states(proto::FAILED);
  EXPECT_EQ(CheckLimits(request), absl::OkStatus());
  request.add_states(proto::FAILED);
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLimits(request)));
}

TEST(RequestLimitsTest, ASubmissionIsCheckedWhole) {
  proto::SubmitJobRequest request;
  proto::JobSpec& spec = *request.mutable_spec();
  spec.set_nprocs(1);
  spec.mutable_program()->set_name("a.out");
  spec.mutable_program()->set_sha256(std::string(64, 'a'));
  spec.add_arguments("a.out");
  EXPECT_EQ(CheckLimits(request), absl::OkStatus());
  while (spec.arguments_size() <= kArgumentsMax) spec.add_arguments();
  EXPECT_TRUE(absl::IsResourceExhausted(CheckLimits(request)));
}

TEST(RequestLimitsTest, AClientHasSeenNoMoreStreamsThanALogHas) {
  proto::ReadLogRequest read;
  proto::ToJob attach;
  for (int i = 0; i < kStreamEndsMax; ++i) {
    read.add_seen();
    attach.add_seen();
  }
  EXPECT_EQ(CheckLimits(read), absl::OkStatus());
  EXPECT_EQ(CheckLimits(attach), absl::OkStatus());
  read.add_seen();
  attach.add_seen();
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLimits(read)));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLimits(attach)));
}

TEST(RequestLimitsTest, FilesAndContentsAreNamedAsFarAsThereMayBeAny) {
  proto::FetchFilesRequest fetch;
  while (fetch.names_size() < kFetchedNamesMax) fetch.add_names();
  EXPECT_EQ(CheckLimits(fetch), absl::OkStatus());
  fetch.add_names();
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLimits(fetch)));
  proto::FindMissingBlobsRequest find;
  while (find.sha256_size() < kFilesMax + 1) find.add_sha256();
  EXPECT_EQ(CheckLimits(find), absl::OkStatus());
  find.add_sha256();
  EXPECT_TRUE(absl::IsResourceExhausted(CheckLimits(find)));
}

TEST(RequestLimitsTest, OthersAreSmall) {
  EXPECT_EQ(CheckLimits(proto::ShowJobRequest()), absl::OkStatus());
}

}  // namespace
}  // namespace bspnow::coordinator
