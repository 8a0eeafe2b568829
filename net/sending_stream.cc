#include "net/sending_stream.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "net/frame_body.h"
#include "net/frame_check.h"

namespace bspnow {
namespace {

constexpr std::size_t kQueueBytes = 1 << 20;   // Checksums are made shortly before the bytes go.
constexpr std::uint64_t kPumpBytes = 2 << 20;  // Then other streams have their turn.
constexpr std::uint64_t kBackoffMsMin = 10;
constexpr std::uint64_t kBackoffMsMax = 1000;
constexpr std::uint32_t kRefusalsMax = 5;

std::size_t PayloadBytes(const OutgoingBatch& batch) {
  std::size_t bytes = sizeof batch.piece + batch.owned.size();
  for (const iovec& piece : batch.pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

SendingStream::SendingStream(EventLoop& loop, Resolver& resolver, SendingStreamOptions options,
                             SendingStreamEvents events)
    : loop_(loop), resolver_(resolver), options_(std::move(options)), events_(std::move(events)) {}

SendingStream::~SendingStream() {
  *alive_ = false;
  loop_.CancelTimer(retry_timer_);
  loop_.CancelTimer(stall_timer_);
  if (fd_.valid()) loop_.Forget(fd_.get());
}

void SendingStream::Send(OutgoingBatch batch) {
  const std::size_t bytes = PayloadBytes(batch);
  BSP_CHECK_OP(bytes, <=, kFramePayloadBytesMax);
  if (retention_.empty()) acked_ns_ = NowNs();
  const std::uint64_t sequence = retention_.Add({.job = batch.job,
                                                 .epoch = batch.epoch,
                                                 .group = batch.group,
                                                 .superstep = batch.superstep,
                                                 .bytes = bytes});
  kept_.emplace(sequence, Kept{std::move(batch)});
  if (!corked_) Pump();
}

void SendingStream::Uncork() {
  corked_ = false;
  Pump();
}

// --- The connection ------------------------------------------------------------------------------

void SendingStream::AskForAddresses() {
  state_ = State::kResolving;
  WatchForStall();
  resolver_.Ask(options_.address,
                [this, alive = alive_, question = ++question_](const Resolver::Answer& answer) {
                  if (!*alive || question != question_) return;
                  if (!answer.ok()) return Break(answer.status().ToString());
                  addresses_.assign(answer->rbegin(), answer->rend());
                  Connect();
                });
}

// To the next address of the peer, of those that were found at a time.
void SendingStream::Connect() {
  if (addresses_.empty()) return AskForAddresses();
  const SocketAddress address = addresses_.back();
  addresses_.pop_back();
  state_ = State::kConnecting;
  heard_ns_ = NowNs();
  absl::StatusOr<UniqueFd> fd = BeginConnect(address, options_.socket);
  if (!fd.ok()) return Break(fd.status().ToString());
  fd_ = *std::move(fd);
  reader_ = std::make_shared<FrameReader>(static_cast<FrameSink&>(*this));
  writing_ = true;
  BSP_CHECK(loop_.OnWritable(fd_.get(), [this] { OnWritable(); }));
  WatchForStall();
}

void SendingStream::OnWritable() {
  if (state_ == State::kConnecting) return OnConnected();
  writing_ = false;
  Pump();
  if (!writing_ && fd_.valid()) loop_.StopWriting(fd_.get());
}

void SendingStream::OnConnected() {
  if (const absl::Status status = ConnectError(fd_.get()); !status.ok())
    return Break(status.ToString());
  state_ = State::kGreeting;
  tls_ = StreamTls::Of(options_.key, StreamTls::End::kConnects, fd_.get());
  loop_.OnReadable(fd_.get(), [this] { OnReadable(); });
  FrameHeader header = HeaderOf(FrameKind::kHello);
  header.source_worker = Value(options_.self);
  const HelloBody hello{options_.incarnation, Value(options_.target), 0};
  proof_.emplace(header, BytesOf(hello));
  proven_jobs_.clear();
  Push(proof_->header(), proof_->payload(), {});
  OnWritable();
}

void SendingStream::OnReadable() {
  const auto reader = reader_;  // A callback may break the connection.
  const absl::Status status = reader->Read(fd_.get(), tls_.get());
  if (reader != reader_) return;
  if (reader->fault() != FrameFault::kNone)
    ++counts_.faults[static_cast<std::size_t>(reader->fault())];
  if (!abort_reason_.empty()) return Break(std::exchange(abort_reason_, ""));
  if (!status.ok()) return Break(status.ToString());
  if (!writing_) Pump();
}

void SendingStream::Break(const std::string& reason) {
  const bool was_open = state_ == State::kOpen;
  if (fd_.valid()) loop_.Forget(fd_.get());
  tls_.reset();
  fd_.Reset();
  if (reader_) reader_->Stop();
  reader_.reset();
  writer_.Clear();
  in_writer_.clear();
  writing_ = false;
  if (was_open) ++counts_.breaks;
  if (events_.note)
    events_.note(absl::StrCat("event=stream_broken node=", options_.target_name, " address=",
                              options_.address.ToString(), " reason=\"", reason, "\""));
  GiveUpIfUnreachable(reason);
  RetryLater();
}

void SendingStream::RetryLater() {
  state_ = State::kBackoff;
  backoff_ms_ = std::clamp(backoff_ms_ * 2, kBackoffMsMin, kBackoffMsMax);
  retry_due_ns_ = NowNs() + backoff_ms_ * kNsPerMs;
  retry_timer_ = loop_.AddTimer(backoff_ms_, [this] {
    LeaveOutPause();
    retry_due_ns_ = kNotDue;
    retry_timer_ = kNoTimer;
    state_ = State::kIdle;
    Pump();
  });
}

void SendingStream::SetAddress(const HostPort& address) {
  if (address.ToString() == options_.address.ToString()) return;
  options_.address = address;
  addresses_.clear();
  if (state_ == State::kResolving) return AskForAddresses();
  ConnectAnew("the worker has moved");
}

// --- What goes out -------------------------------------------------------------------------------

void SendingStream::Pump() {
  if (state_ == State::kIdle && !retention_.empty()) return Connect();
  if (writing_ || !fd_.valid()) return;
  const std::uint64_t start = writer_.bytes_written();
  do {
    while (writer_.queued_bytes() < kQueueBytes && PushNext()) continue;
    if (writer_.empty() || !Write()) break;
  } while (writer_.empty() && writer_.bytes_written() - start < kPumpBytes);
  if (!fd_.valid()) return;  // It broke.
  writing_ = !writer_.empty() || (state_ == State::kOpen && retention_.NextToSend().has_value());
  if (writing_) BSP_CHECK(loop_.OnWritable(fd_.get(), [this] { OnWritable(); }));
  WatchForStall();
}

// False if there is nothing to push now.
bool SendingStream::PushNext() {
  if (state_ != State::kOpen) return false;
  const std::optional<RetainedFrame> next = retention_.NextToSend();
  if (!next.has_value()) return false;
  const OutgoingBatch& batch = kept_.at(next->sequence).batch;
  if (PushJobProof(batch)) return true;
  Pieces pieces;
  if (!batch.owned.empty()) pieces.push_back(PieceOf(batch.owned));
  pieces.insert(pieces.end(), batch.pieces.begin(), batch.pieces.end());
  if (!retention_.AwaitsAck()) heard_ns_ = NowNs();
  if (!retention_.Sent()) {
    ++counts_.resent_frames;
    counts_.resent_bytes += next->bytes;
  }
  const bool vouched = tls_ != nullptr || options_.integrity == Integrity::kTcp;
  const bool trusted = vouched && batch.owned.empty();
  FrameHeader header = HeaderOf(trusted ? FrameKind::kTrustedBatch : FrameKind::kBatch);
  header.job = Value(batch.job);
  header.epoch = Value(batch.epoch);
  header.superstep = Value(batch.superstep);
  header.sequence = next->sequence;
  header.group = Value(batch.group);
  header.source_worker = Value(options_.self);
  BatchPiece piece = batch.piece;
  piece.ack_awaited = batch.token != 0 ? 1 : 0;
  Push(header, BytesOf(piece), pieces);
  return true;
}

// False if the receiver has it.
bool SendingStream::PushJobProof(const OutgoingBatch& batch) {
  if (batch.job_key.empty()) return false;
  const auto [proven, is_first] = proven_jobs_.try_emplace(batch.job, batch.epoch);
  if (!is_first && std::exchange(proven->second, batch.epoch) == batch.epoch) return false;
  FrameHeader header = HeaderOf(FrameKind::kJobProof);
  header.job = Value(batch.job);
  header.epoch = Value(batch.epoch);
  header.source_worker = Value(options_.self);
  Push(header, BytesOf(proof_->ProveJob(batch.job_key, header, challenge_)), {});
  return true;
}

void SendingStream::Push(const FrameHeader& header, std::span<const std::byte> owned,
                         std::span<const iovec> pieces) {
  writer_.Push(header, owned, pieces);
  in_writer_.push_back(header.sequence);
}

// False if the connection broke.
bool SendingStream::Write() {
  const std::uint64_t before = writer_.frames_written();
  const absl::Status status = writer_.Write(fd_.get(), tls_.get());
  for (std::uint64_t i = before; i < writer_.frames_written(); ++i) {
    const std::uint64_t sequence = in_writer_.front();
    in_writer_.pop_front();
    if (sequence == 0) continue;
    written_ = sequence;
    ++counts_.frames;
  }
  counts_.bytes = writer_.bytes_written();
  if (!status.ok()) Break(status.ToString());
  return status.ok();
}

// --- What the receiver sends ---------------------------------------------------------------------

std::span<std::byte> SendingStream::Place(const FrameHeader&, std::span<const std::byte>) {
  return {};
}

FrameFault SendingStream::OnFrame(const Frame& frame) {
  heard_ns_ = NowNs();
  switch (static_cast<FrameKind>(frame.header.kind)) {
    case FrameKind::kChallenge:
      return OnChallenge(frame);
    case FrameKind::kWelcome:
      return OnWelcome(frame.header.sequence);
    case FrameKind::kAck:
      return OnAck(frame.header.sequence);
    case FrameKind::kAbort:
      return OnAbort(frame);
    default:
      return FrameFault::kMalformed;
  }
}

// OnReadable writes the answer.
FrameFault SendingStream::OnChallenge(const Frame& frame) {
  if (state_ != State::kGreeting) return FrameFault::kMalformed;
  ProofBody answer;
  const FrameFault fault = proof_->OnChallenge(options_.key, frame.payload, answer);
  if (fault != FrameFault::kNone) return fault;
  challenge_ = BodyFrom<ChallengeBody>(frame.payload)->nonce;
  state_ = State::kProven;
  FrameHeader header = HeaderOf(FrameKind::kProof);
  header.source_worker = Value(options_.self);
  Push(header, BytesOf(answer), {});
  return FrameFault::kNone;
}

FrameFault SendingStream::OnWelcome(std::uint64_t sequence) {
  if (state_ != State::kProven) return FrameFault::kMalformed;
  const auto acked = retention_.OnWelcome(sequence);
  if (!acked.has_value()) return FrameFault::kMalformed;
  state_ = State::kOpen;
  addresses_.clear();  // A later connection asks anew.
  written_ = sequence;
  ++counts_.connects;
  Deliver(*acked);
  return FrameFault::kNone;
}

FrameFault SendingStream::OnAck(std::uint64_t sequence) {
  if (state_ != State::kOpen || sequence > written_) return FrameFault::kMalformed;
  const auto acked = retention_.OnAck(sequence);
  BSP_CHECK(acked.has_value());
  Deliver(*acked);
  return FrameFault::kNone;
}

// A program may have changed it between its checksum and the socket, and would do so again: all
// frames to the worker would wait for this one. What the writer has of it goes with the connection.
void SendingStream::Own(OutgoingBatch& batch) {
  for (const iovec& piece : batch.pieces) {
    const std::span<const std::byte> bytes = PieceBytes(piece);
    batch.owned.insert(batch.owned.end(), bytes.begin(), bytes.end());
  }
  batch.pieces.clear();
}

// Names the frame that was refused, if its header was right; but only who was welcoming can. What
// was damaged on its way says nothing against the frame: it is sent again, until the other end
// counts as unreachable.
FrameFault SendingStream::OnAbort(const Frame& frame) {
  const std::string reason = ReasonIn(frame.payload);
  abort_reason_ = absl::StrCat("closed by the receiver: ", reason);
  reader_->Stop();
  const auto found = kept_.find(frame.header.sequence);
  const bool damaged = reason == FaultText(FrameFault::kBadPayloadCrc);
  if (state_ != State::kOpen || found == kept_.end()) return FrameFault::kNone;
  if (damaged) {
    Own(found->second.batch);
  } else if (++found->second.refusals >= kRefusalsMax) {
    GiveUp(frame.header.sequence, abort_reason_);
  }
  return FrameFault::kNone;
}

void SendingStream::Deliver(const std::vector<RetainedFrame>& frames) {
  if (frames.empty()) return;
  backoff_ms_ = 0;  // This connection is of some use.
  acked_ns_ = NowNs();
  struct Delivery {
    JobId job;
    GroupId group;
    std::uint64_t token;
  };
  std::vector<Delivery> awaited;
  for (const RetainedFrame& frame : frames) {
    const auto found = kept_.find(frame.sequence);
    const std::uint64_t token = found->second.batch.token;
    if (token != 0) awaited.push_back({.job = frame.job, .group = frame.group, .token = token});
    kept_.erase(found);
  }
  if (!events_.delivered) return;
  for (const Delivery& one : awaited) events_.delivered(one.job, one.group, one.token);
}

// --- What is not wanted any more -----------------------------------------------------------------

void SendingStream::Prune(JobId job, Epoch epoch, GroupId group, Superstep superstep) {
  Discard(retention_.PruneTo(job, epoch, group, superstep));
}

void SendingStream::DropGroup(JobId job, GroupId group) {
  if (group == kRootGroup) proven_jobs_.erase(job);
  Discard(retention_.DropGroup(job, group));
}

void SendingStream::Discard(const std::vector<RetainedFrame>& frames) {
  const bool perhaps_in_writer =
      std::any_of(frames.begin(), frames.end(),
                  [this](const RetainedFrame& frame) { return frame.sequence > written_; });
  if (perhaps_in_writer) writer_.OwnAll();  // A frame that has begun must be finished.
  for (const RetainedFrame& frame : frames) kept_.erase(frame.sequence);
}

void SendingStream::GiveUp(std::uint64_t sequence, const std::string& reason) {
  const JobId job = kept_.at(sequence).batch.job;
  Discard(retention_.Drop(sequence));
  TellBroken({job}, absl::StrCat("a batch for worker ", options_.target_name, ": ", reason));
}

void SendingStream::TellBroken(const std::set<JobId>& jobs, const std::string& reason) {
  loop_.Post([this, alive = alive_, jobs, reason] {
    if (*alive && events_.failed) events_.failed(reason);
    for (const JobId job : jobs)
      if (*alive && events_.job_broken) events_.job_broken(job, reason);
  });
}

}  // namespace bspnow
