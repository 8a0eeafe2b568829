#include "net/receiving_stream.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <sys/socket.h>

#include <utility>

#include "base/check.h"
#include "net/frame_body.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kHelloMs = 5000;
constexpr std::uint64_t kHelloOfCrowdMs = 500;  // Who has the key needs some milliseconds.
constexpr std::uint64_t kLingerMs = 1000;       // For the peer to read the last frame.
constexpr std::uint64_t kAckMs = 20;
constexpr std::uint64_t kAckBytes = 1 << 20;
constexpr std::size_t kCrowd = 128;
constexpr std::size_t kQueuedBytesMax = 1 << 20;  // A peer that does not read its Acks.

bool IsLane(const FrameHeader& opening) { return FrameKind{opening.kind} == FrameKind::kLane; }

}  // namespace

ReceivingStreams::Stream::Stream(ReceivingStreams& owner, Accepted accepted)
    : owner_(owner),
      loop_(owner.loop_),
      fd_(std::move(accepted.fd)),
      tls_(StreamTls::Of(owner.key_, StreamTls::End::kAccepts, fd_.get())),
      peer_(accepted.peer.ToString()),
      reader_(static_cast<FrameSink&>(*this)) {
  reader_.LimitPayloads(kUnprovenPayloadBytesMax);
  loop_.OnReadable(fd_.get(), [this] { OnReadable(); });
  AwaitProof(0);
}

// A crowd may come later than this one, and keep workers out as long as its first ones stay.
void ReceivingStreams::Stream::AwaitProof(std::uint64_t waited_ms) {
  state_timer_ = loop_.AddTimer(kHelloOfCrowdMs, [this, waited_ms] {
    const std::uint64_t now_ms = waited_ms + kHelloOfCrowdMs;
    if (now_ms < kHelloMs && owner_.strangers_ <= kCrowd) return AwaitProof(now_ms);
    ++owner_.counts_.faults[static_cast<std::size_t>(FrameFault::kNoProof)];
    Note("stream_refused",
         state_ == State::kStranger ? "no Hello in time" : FaultText(FrameFault::kNoProof));
    owner_.Remove(*this);
  });
}

void ReceivingStreams::Stream::Shut() {
  loop_.CancelTimer(state_timer_);
  loop_.CancelTimer(ack_timer_);
  reader_.Stop();
  if (!fd_.valid()) return;
  loop_.Forget(fd_.get());
  fd_.Reset();
}

// A job may begin here later than there: they find no proof of its key, and try a lane again. That
// is no news for the log.
void ReceivingStreams::Stream::End(const std::string& reason) {
  if (state_ == State::kChallenged && IsLane(proof_->header())) {
    ++owner_.counts_.refused;
    return owner_.Remove(*this);
  }
  Note("stream_closed", reason);
  owner_.Remove(*this);
}

void ReceivingStreams::Stream::Note(const char* event, const std::string& reason) {
  if (stranger()) return owner_.NoteStranger(event, peer_, reason);
  owner_.Note(absl::StrCat("event=", event, " worker=", Value(worker_), " peer=", peer_,
                           " reason=\"", reason, "\""));
}

void ReceivingStreams::Stream::OnReadable() {
  if (state_ == State::kLeaving) return Discard();
  const std::uint64_t before = reader_.bytes_read();
  const absl::Status status = reader_.Read(fd_.get(), tls_.get());
  owner_.counts_.bytes += reader_.bytes_read() - before;
  if (!fd_.valid() || state_ == State::kLeaving) return;
  if (reader_.fault() != FrameFault::kNone) {
    ++owner_.counts_.faults[static_cast<std::size_t>(reader_.fault())];
    if (state_ == State::kWelcomed) reception().OnDamaged(reader_.faulty_sequence());
    Refuse(FaultText(reader_.fault()));
  } else if (!status.ok()) {
    End(status.ToString());
  } else if (std::exchange(ack_awaited_, false)) {
    Ack();
  } else if (state_ == State::kWelcomed) {
    AckSoon();
  }
}

std::span<std::byte> ReceivingStreams::Stream::Place(const FrameHeader& header,
                                                     std::span<const std::byte> prefix) {
  if (state_ != State::kWelcomed || !IsBatch(header) || !reception().MayPlace(header.sequence) ||
      !Proven(header))
    return {};
  const std::optional<BatchPiece> piece = BodyAtStart<BatchPiece>(prefix);
  return piece ? owner_.sink_.Place(worker_, header, *piece) : std::span<std::byte>();
}

FrameFault ReceivingStreams::Stream::OnFrame(const Frame& frame) {
  const auto kind = static_cast<FrameKind>(frame.header.kind);
  switch (state_) {
    case State::kStranger:
      return kind == FrameKind::kHello || kind == FrameKind::kLane ? OnOpening(frame)
                                                                   : FrameFault::kMalformed;
    case State::kChallenged:
      return kind == FrameKind::kProof ? OnProof(frame) : FrameFault::kMalformed;
    default:
      if (kind == FrameKind::kJobProof) return OnJobProof(frame);
      return IsBatch(frame.header) ? OnBatch(frame) : FrameFault::kMalformed;
  }
}

// Who wants another worker gets no challenge, which is a proof.
FrameFault ReceivingStreams::Stream::OnOpening(const Frame& frame) {
  proof_ = AcceptingProof::Of(frame.header, frame.payload);
  if (!proof_.has_value()) return FrameFault::kMalformed;
  const std::optional<std::uint32_t> target = proof_->target();
  if (!target.has_value()) return FrameFault::kMalformed;
  const std::string refusal = owner_.WhyUnwelcome(frame.header, *target);
  if (refusal.empty()) {
    state_ = State::kChallenged;
    proof_key_ = owner_.KeyFor(frame.header);
    Send(proof_->ChallengeHeader(), BytesOf(proof_->Challenge(proof_key_)));
  } else {
    RefuseOpening(refusal);
  }
  return FrameFault::kNone;
}

FrameFault ReceivingStreams::Stream::OnProof(const Frame& frame) {
  const FrameFault fault = proof_->OnProof(proof_key_, frame.payload);
  if (fault != FrameFault::kNone) return fault;
  const FrameHeader& header = proof_->header();
  if (IsLane(header) && reader_.read_ahead()) return FrameFault::kMalformed;  // Not welcome yet.
  // This worker may have another id meanwhile.
  const std::string refusal = owner_.WhyUnwelcome(header, *proof_->target());
  if (!refusal.empty()) {
    RefuseOpening(refusal);
  } else if (IsLane(header)) {
    OnLane(header);
  } else {
    OnHello(header);
  }
  return FrameFault::kNone;
}

void ReceivingStreams::Stream::OnHello(const FrameHeader& header) {
  if (proof_->IsProbe()) return Leave(HeaderOf(FrameKind::kWelcome), {});
  owner_.Take(*this, WorkerId{header.source_worker});
  --owner_.strangers_;
  ++owner_.counts_.connections;
  state_ = State::kWelcomed;
  worker_ = WorkerId{header.source_worker};
  loop_.CancelTimer(state_timer_);
  reader_.LimitPayloads(kFramePayloadBytesMax);
  FrameHeader welcome = HeaderOf(FrameKind::kWelcome);
  welcome.sequence = acked_ = reception().OnHello(BodyFrom<HelloBody>(proof_->body())->incarnation);
  acked_bytes_ = reader_.bytes_read();
  Send(welcome, {});
}

void ReceivingStreams::Stream::OnLane(const FrameHeader& header) {
  const LaneName lane{.from = WorkerId{header.source_worker},
                      .job = JobId{header.job},
                      .epoch = Epoch{header.epoch},
                      .number = BodyFrom<LaneBody>(proof_->body())->number};
  if (tls_ != nullptr || !owner_.sink_.WantsLane(lane)) return RefuseOpening("no lane is wanted");
  HandLane(lane);
}

void ReceivingStreams::Stream::HandLane(const LaneName& lane) {
  Send(HeaderOf(FrameKind::kWelcome), {});
  if (!writer_.empty()) return End("takes no Welcome");
  ++owner_.counts_.connections;
  loop_.Forget(fd_.get());
  UniqueFd socket = std::move(fd_);
  owner_.Remove(*this);
  owner_.sink_.TakeLane(lane, std::move(socket));
}

// If it is none the batch that follows is refused: that one can be named to its sender. Of a job
// that is not here the batches are dropped, too; nobody sends any before all nodes of the job have
// it, so a proof never comes too early.
FrameFault ReceivingStreams::Stream::OnJobProof(const Frame& frame) {
  const std::optional<ProofBody> proof = BodyFrom<ProofBody>(frame.payload);
  if (!proof.has_value()) return FrameFault::kMalformed;
  const JobId job{frame.header.job};
  const Epoch epoch{frame.header.epoch};
  const StreamKey* const key = owner_.sink_.KeyOf(job, epoch);
  if (key != nullptr && proof_->ProvesJob(*key, frame.header, *proof)) proven_jobs_[job] = epoch;
  return FrameFault::kNone;
}

bool ReceivingStreams::Stream::HasProven(const FrameHeader& batch) const {
  const auto proven = proven_jobs_.find(JobId{batch.job});
  return proven != proven_jobs_.end() && proven->second == Epoch{batch.epoch};
}

// Or nothing is to be proven.
bool ReceivingStreams::Stream::Proven(const FrameHeader& batch) const {
  return HasProven(batch) || owner_.sink_.KeyOf(JobId{batch.job}, Epoch{batch.epoch}) == nullptr;
}

FrameFault ReceivingStreams::Stream::OnBatch(const Frame& frame) {
  const std::optional<BatchPiece> piece = BodyAtStart<BatchPiece>(frame.payload);
  if (!piece.has_value() || frame.header.sequence == 0 ||
      frame.header.source_worker != Value(worker_))
    return FrameFault::kMalformed;
  if (!reception().IsNews(frame.header.sequence)) {
    ++owner_.counts_.duplicates;
    return FrameFault::kNone;
  }
  if (!Proven(frame.header)) return FrameFault::kBadJobProof;
  const bool has_proven = HasProven(frame.header);  // Before the job may go.
  const std::span<const std::byte> data =
      frame.placed.empty() ? frame.payload.subspan(sizeof *piece) : frame.placed;
  const FrameFault fault = owner_.sink_.OnBatch(worker_, frame.header, *piece, data);
  if (fault != FrameFault::kNone) return fault;
  ++owner_.counts_.frames;
  reception().Take(frame.header.sequence);
  if (has_proven) reception().OnProven();
  ack_awaited_ |= piece->ack_awaited != 0;
  if (reader_.bytes_read() - acked_bytes_ >= kAckBytes) Ack();
  return FrameFault::kNone;
}

// A frame that takes long to come is acknowledged too, with what was there before it: a sign of
// life for the sender. Bytes alone would not do: those of the last Ack may hold a whole frame that
// was delivered after it.
bool ReceivingStreams::Stream::OwesAck() {
  return reception().last() != acked_ || reader_.bytes_read() != acked_bytes_;
}

void ReceivingStreams::Stream::AckSoon() {
  if (ack_timer_ != kNoTimer || !OwesAck()) return;
  ack_timer_ = loop_.AddTimer(kAckMs, [this] {
    ack_timer_ = kNoTimer;
    if (OwesAck()) Ack();
  });
}

void ReceivingStreams::Stream::Ack() {
  if (state_ != State::kWelcomed) return;
  acked_ = reception().last();
  acked_bytes_ = reader_.bytes_read();
  FrameHeader ack = HeaderOf(FrameKind::kAck);
  ack.sequence = acked_;
  Send(ack, {});
}

void ReceivingStreams::Stream::Send(FrameHeader header, std::span<const std::byte> payload) {
  header.source_worker = Value(owner_.self_);
  writer_.Push(header, payload, {});
  if (writer_.queued_bytes() < kQueuedBytesMax) return Write();
  Refuse("Acks are not read");
}

void ReceivingStreams::Stream::Write() {
  // One that is broken, or leaves with bytes unwritten, is writable for ever. Reading ends it.
  if (!writer_.Write(fd_.get(), tls_.get()).ok() || writer_.empty()) {
    loop_.StopWriting(fd_.get());
  } else {
    BSP_CHECK(loop_.OnWritable(fd_.get(), [this] { Write(); }));
  }
}

void ReceivingStreams::Stream::Refuse(const std::string& reason) {
  if (state_ == State::kLeaving) return;
  Note("stream_refused", reason);
  TurnAway(reason);
}

// Lanes are tried again and again: that is no news for the log.
void ReceivingStreams::Stream::RefuseOpening(const std::string& reason) {
  ++owner_.counts_.refused;
  if (IsLane(proof_->header())) return TurnAway(reason);
  Refuse(reason);
}

// Sends the reason, and which frame it was.
void ReceivingStreams::Stream::TurnAway(const std::string& reason) {
  FrameHeader abort = HeaderOf(FrameKind::kAbort);
  abort.sequence = reader_.faulty_sequence();
  Leave(abort, std::as_bytes(std::span(reason)));
}

// With a last frame. Closing at once could destroy it on its way, while the peer's bytes are
// unread; so they are read and thrown away for a while.
void ReceivingStreams::Stream::Leave(const FrameHeader& last, std::span<const std::byte> payload) {
  if (stranger()) --owner_.strangers_;
  state_ = State::kLeaving;
  Send(last, payload);
  shutdown(fd_.get(), SHUT_WR);
  reader_.Stop();
  loop_.CancelTimer(state_timer_);
  state_timer_ = loop_.AddTimer(kLingerMs, [this] { owner_.Remove(*this); });
}

void ReceivingStreams::Stream::Discard() {
  std::byte waste[16 << 10];
  const ssize_t n = recv(fd_.get(), waste, sizeof waste, MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) owner_.Remove(*this);
}

}  // namespace bspnow
