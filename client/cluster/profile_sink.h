// Takes the files of a job's profile as they come from the coordinator: what each of its nodes
// recorded, and the program.
#ifndef CLIENT_CLUSTER_PROFILE_SINK_H_
#define CLIENT_CLUSTER_PROFILE_SINK_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "files/file_sink.h"
#include "proto/profile.pb.h"

namespace bspnow::client {

class ProfileSink final : public files::FileSink {
 public:
  absl::Status Begin(const files::FileHead& head) override;
  absl::Status Append(std::string_view bytes) override;
  absl::Status Finish() override;

  /// Of all nodes, in the order of the pids.
  const proto::Profile& profile() const { return profile_; }
  /// A file, as long as this lives; empty: it did not come.
  std::string program_path() const;

 private:
  absl::Status TakeProfile();

  proto::Profile profile_;
  std::string text_;  ///< Of the file that is being taken.
  std::uint64_t bytes_ = 0;
  UniqueFd program_;  ///< In memory.
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_PROFILE_SINK_H_
