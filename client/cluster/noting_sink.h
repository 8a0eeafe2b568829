// Hands files on to another sink, and notes which ones the coordinator cannot read, and whether
// that sink refused one: a full disk here may read like a coordinator that is gone, and the status
// alone does not tell the two apart.
#ifndef CLIENT_CLUSTER_NOTING_SINK_H_
#define CLIENT_CLUSTER_NOTING_SINK_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "files/file_sink.h"

namespace bspnow::client {

class NotingSink final : public files::FileSink {
 public:
  explicit NotingSink(files::FileSink& sink) : sink_(sink) {}

  absl::Status Begin(const files::FileHead& head) override { return Noted(sink_.Begin(head)); }
  absl::Status Append(std::string_view bytes) override { return Noted(sink_.Append(bytes)); }
  absl::Status AppendHole(std::uint64_t bytes) override { return Noted(sink_.AppendHole(bytes)); }
  absl::Status OnUnread(std::string_view why) override {
    ++unread_files_;
    if (unread_files_ <= kUnreadNamed)
      absl::StrAppend(&unread_, unread_.empty() ? "" : "; ", std::string(why));
    return Noted(sink_.OnUnread(why));
  }
  absl::Status Finish() override { return Noted(sink_.Finish()); }

  /// The error of the transfer is the sink's.
  bool refused() const { return refused_; }

  /// The files that cannot be read there, and why; empty: none.
  std::string unread() const {
    if (unread_files_ <= kUnreadNamed) return unread_;
    return absl::StrCat(unread_, "; and ", unread_files_ - kUnreadNamed, " more");
  }

 private:
  static constexpr std::size_t kUnreadNamed = 10;  ///< On a dying disk there may be many.

  absl::Status Noted(const absl::Status& status) {
    refused_ |= !status.ok();
    return status;
  }

  files::FileSink& sink_;
  bool refused_ = false;
  std::size_t unread_files_ = 0;
  std::string unread_;
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_NOTING_SINK_H_
