// Hands files on to another sink, and notes whether that sink refused one: a full disk here may
// read like a coordinator that is gone, and the status alone does not tell the two apart.
#ifndef CLIENT_CLUSTER_NOTING_SINK_H_
#define CLIENT_CLUSTER_NOTING_SINK_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string_view>

#include "files/file_sink.h"

namespace bspnow::client {

class NotingSink final : public files::FileSink {
 public:
  explicit NotingSink(files::FileSink& sink) : sink_(sink) {}

  absl::Status Begin(const files::FileHead& head) override { return Noted(sink_.Begin(head)); }
  absl::Status Append(std::string_view bytes) override { return Noted(sink_.Append(bytes)); }
  absl::Status AppendHole(std::uint64_t bytes) override { return Noted(sink_.AppendHole(bytes)); }
  absl::Status Finish() override { return Noted(sink_.Finish()); }

  /// The error of the transfer is the sink's.
  bool refused() const { return refused_; }

 private:
  absl::Status Noted(const absl::Status& status) {
    refused_ |= !status.ok();
    return status;
  }

  files::FileSink& sink_;
  bool refused_ = false;
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_NOTING_SINK_H_
