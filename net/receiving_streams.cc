#include "net/receiving_streams.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "net/receiving_stream.h"
#include "net/stream_proof.h"

namespace bspnow {
namespace {

constexpr std::size_t kStrangersMax = 512;  // A worker that has come is probed by all.

}  // namespace

ReceivingStreams::ReceivingStreams(EventLoop& loop, const SocketOptions& options, BatchSink& sink,
                                   NoteFact note)
    : loop_(loop), options_(options), sink_(sink), note_(std::move(note)) {}

ReceivingStreams::~ReceivingStreams() = default;

absl::Status ReceivingStreams::Listen(const SocketAddress& address) {
  absl::StatusOr<UniqueFd> socket = bspnow::Listen(address, options_);
  if (!socket.ok()) return socket.status();
  absl::StatusOr<SocketAddress> bound = LocalAddress(socket->get());
  if (!bound.ok()) return bound.status();
  socket_ = *std::move(socket);
  address_ = *std::move(bound);
  return absl::OkStatus();
}

void ReceivingStreams::SetSelf(WorkerId self, const StreamKey& key) {
  self_ = self;
  const bool other = key_.empty() ? key.encrypts() : key_ != key;
  key_ = key;
  while (other && !streams_.empty()) Remove(*streams_.begin()->first);
  if (socket_.valid())
    listener_ = std::make_unique<Listener>(loop_, std::move(socket_), options_,
                                           [this](Accepted a) { OnAccepted(std::move(a)); });
}

void ReceivingStreams::OnAccepted(Accepted accepted) {
  if (strangers_ >= kStrangersMax) {
    ++counts_.refused;
    return NoteStranger("connection_refused", accepted.peer.ToString(), "too many");
  }
  ++strangers_;
  auto stream = std::make_shared<Stream>(*this, std::move(accepted));
  streams_.emplace(stream.get(), stream);
}

std::string ReceivingStreams::WhyUnwelcome(const FrameHeader& header, std::uint32_t target) const {
  if (header.source_worker == 0 || header.source_worker == Value(self_))
    return absl::StrCat("no other worker is ", header.source_worker);
  if (self_ == WorkerId{} || target != Value(self_))
    return absl::StrCat("you want worker ", target, ", this is ", Value(self_));
  if (key_.empty()) return "this worker has no key yet";
  return "";
}

StreamKey ReceivingStreams::KeyFor(const FrameHeader& opening) const {
  if (FrameKind{opening.kind} != FrameKind::kLane) return key_;
  const StreamKey* const job = sink_.KeyOf(JobId{opening.job}, Epoch{opening.epoch});
  return job == nullptr ? StreamKey::Random() : KeyOfLanes(key_, *job);
}

void ReceivingStreams::NoteStranger(const char* event, const std::string& peer,
                                    const std::string& reason) {
  if (const auto so_far = strangers_noted_.Next())
    Note(absl::StrCat("event=", event, " worker=0 peer=", peer, " refused=", *so_far, " reason=\"",
                      reason, "\""));
}

void ReceivingStreams::Take(Stream& stream, WorkerId worker) {
  if (const auto old = by_worker_.find(worker); old != by_worker_.end()) Remove(*old->second);
  by_worker_[worker] = &stream;
}

// The stream may be in the middle of reading: it dies when the loop is next at its top.
void ReceivingStreams::Remove(Stream& stream) {
  const auto found = streams_.find(&stream);
  if (found == streams_.end()) return;
  if (stream.stranger()) --strangers_;
  const auto named = by_worker_.find(stream.worker());
  if (named != by_worker_.end() && named->second == &stream) by_worker_.erase(named);
  stream.Shut();
  loop_.Post([dead = std::move(found->second)] {});
  streams_.erase(found);
}

void ReceivingStreams::Unplace(JobId job) {
  for (const auto& [stream, owned] : streams_) stream->Unplace(job, std::nullopt);
}

void ReceivingStreams::Unplace(JobId job, GroupId group) {
  for (const auto& [stream, owned] : streams_) stream->Unplace(job, Value(group));
}

bool ReceivingStreams::Forget(WorkerId worker) {
  if (by_worker_.contains(worker)) return false;
  receptions_.erase(worker);
  return true;
}

}  // namespace bspnow
