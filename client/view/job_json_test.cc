#include "client/view/job_json.h"

#include <gtest/gtest.h>

#include <string>

#include "client/view/job_view.h"

namespace bspnow::client {
namespace {

proto::Job FailedJob(const std::string& reason, const std::string& files_lost) {
  proto::Job job;
  job.set_state(proto::FAILED);
  job.set_reason(reason);
  job.set_files_lost(files_lost);
  return job;
}

bool ShowsRow(const proto::Job& job) {
  return JobText(job, 0, Colours::kOff).find("files lost") != std::string::npos;
}

TEST(JobJsonTest, HasWhyFilesAreLostWhateverElseTheReasonIs) {
  const proto::Job job = FailedJob("pid 0 ended with status 3", "directory out: Permission denied");
  EXPECT_EQ(JobJson(job)["files_lost"], "directory out: Permission denied");
  EXPECT_TRUE(ShowsRow(job));
  const proto::Job without = FailedJob("pid 0 ended with status 3", "");
  EXPECT_EQ(JobJson(without)["files_lost"], "");
  EXPECT_FALSE(ShowsRow(without));
}

TEST(JobJsonTest, UnderstandsOlderCoordinatorsThatSayInTheReasonThatFilesAreLost) {
  for (const std::string lost : {" are lost: ", ", if any, are lost: "}) {
    const proto::Job job = FailedJob("files that it left" + lost + "too large", "");
    EXPECT_EQ(JobJson(job)["files_lost"], "too large");
    EXPECT_FALSE(ShowsRow(job));
  }
  EXPECT_EQ(JobJson(FailedJob("the files that it left wait: no room", ""))["files_lost"], "");
}

// With the names that the others have, so that who looks for states and reasons finds it.
TEST(JobJsonTest, AJobWhoseRecordIsDamagedIsListedAsSuch) {
  const nlohmann::json damaged = DamagedJobJson(7);
  proto::Job job;
  job.set_job(7);
  const nlohmann::json sound = JobJson(job);
  for (const auto& [name, value] : damaged.items())
    EXPECT_EQ(sound[name].type(), value.type()) << name;
  EXPECT_EQ(damaged["job"], 7u);
  EXPECT_EQ(damaged["state"], "damaged");
  EXPECT_EQ(damaged["reason"], "its record in the history is damaged");
}

}  // namespace
}  // namespace bspnow::client
