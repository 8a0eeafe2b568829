#include "coordinator/core/attachment.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void Attachment::Attach(std::shared_ptr<AttachedClient> client) {
  last_ = client->identity();
  const auto earlier = std::exchange(client_, std::move(client));
  if (earlier) earlier->Replaced();
}

void Attachment::OnBroken(const AttachedClient* client, std::uint64_t now_ns) {
  if (!IsClient(client)) return;
  client_.reset();
  attach_by_ns_ = now_ns + reconnect_ns_;
}

absl::Status Attachment::OnInput(InputChunk chunk) {
  if (chunk.data.size() > kInputBytesMax)
    return absl::InvalidArgumentError(
        absl::StrCat("input comes in chunks of at most ", kInputBytesMax, " bytes"));
  if (chunk.data.size() > std::numeric_limits<std::uint64_t>::max() - chunk.offset)
    return absl::InvalidArgumentError("input ends beyond what can be counted");
  if (chunk.data.empty() && !chunk.end) return absl::OkStatus();
  const std::uint64_t end = chunk.offset + chunk.data.size();
  if (!chunk.data.empty() && end <= received_bytes_) {
    // What pid 0 lacks of it is on its way there.
    if (end <= taken_bytes_ && client_) client_->InputTaken(taken_bytes_);
    return absl::OkStatus();
  }
  if (ended_ && chunk.end) return absl::OkStatus();
  if (ended_) return absl::InvalidArgumentError("input came after its end");
  if (received_bytes_ > taken_bytes_ && !chunk.data.empty())
    return absl::InvalidArgumentError("input came before the last was taken");
  if (!chunk.data.empty()) received_bytes_ = end;
  ended_ = chunk.end;
  kept_.push_back(std::move(chunk));
  return absl::OkStatus();
}

void Attachment::OnStarted() {
  if (std::exchange(started_, true)) return;
  const bool end_was_sent = ended_ && kept_.empty();
  if (end_was_sent) kept_.push_back({.end = true});
}

bool Attachment::HasBytes() const {
  return started_ && std::any_of(kept_.begin(), kept_.end(),
                                 [](const InputChunk& chunk) { return !chunk.data.empty(); });
}

std::vector<InputChunk> Attachment::TakeInput() {
  if (!started_) return {};
  return std::exchange(kept_, {});
}

void Attachment::OnInputTaken(std::uint64_t bytes) {
  taken_bytes_ = std::max(taken_bytes_, bytes);
  if (client_) client_->InputTaken(taken_bytes_);
}

// What was set after the pause is not put off by more than it was for.
void Attachment::OnPaused(std::uint64_t ns, std::uint64_t now_ns) {
  const std::uint64_t patience_ns = std::max(reconnect_ns_, kAttachWithinNs);
  if (attach_by_ns_ == kNever) return;
  attach_by_ns_ = std::max(attach_by_ns_, std::min(attach_by_ns_ + ns, now_ns + patience_ns));
}

bool Attachment::TakeAbandoned(std::uint64_t now_ns) {
  if (client_ || attach_by_ns_ > now_ns) return false;
  attach_by_ns_ = kNever;
  return true;
}

}  // namespace bspnow::coordinator
