#include "client/cluster/attachment.h"

#include <utility>

namespace bspnow::client {

// ---- SeenOutput ---------------------------------------------------------------------------------

void SeenOutput::Add(const proto::LogLine& line) {
  bytes_[{line.pid(), line.stream(), line.of_launcher()}] = line.offset() + line.text().size();
}

std::vector<proto::StreamEnd> SeenOutput::Ends() const {
  std::vector<proto::StreamEnd> ends;
  for (const auto& [stream, bytes] : bytes_) {
    proto::StreamEnd& end = ends.emplace_back();
    end.set_pid(std::get<0>(stream));
    end.set_stream(std::get<1>(stream));
    end.set_of_launcher(std::get<2>(stream));
    end.set_bytes(bytes);
  }
  return ends;
}

// ---- Attachment ---------------------------------------------------------------------------------

std::vector<proto::ToJob> Attachment::Begin() const {
  std::vector<proto::ToJob> messages(1);
  const std::vector<proto::StreamEnd> seen = seen_.Ends();
  messages.front().set_job(job_);
  messages.front().set_submission_key(submission_key_);
  messages.front().mutable_seen()->Assign(seen.begin(), seen.end());
  if (!piece_.empty() || input_ended_) messages.push_back(InputMessage());
  return messages;
}

proto::ToJob Attachment::InputMessage() const {
  proto::ToJob message;
  message.set_input_offset(taken_bytes_);
  if (input_ended_) {
    message.set_input_end(true);
  } else {
    message.set_input(piece_);
  }
  return message;
}

proto::ToJob Attachment::OnInput(std::string piece) {
  piece_ = std::move(piece);
  input_ended_ = piece_.empty();
  return InputMessage();
}

bool Attachment::OnInputTaken(std::uint64_t bytes) {
  if (piece_.empty() || bytes < taken_bytes_ + piece_.size()) return false;
  taken_bytes_ += piece_.size();
  piece_.clear();
  return true;
}

}  // namespace bspnow::client
