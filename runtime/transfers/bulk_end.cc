#include "runtime/transfers/bulk_end.h"

#include <algorithm>

#include "runtime/link/crc32c.h"

namespace bspnow::runtime {
namespace {

std::uint32_t CrcOf(const BulkHeader& header) {
  constexpr std::size_t kFrom = offsetof(BulkHeader, kind);
  return Crc32c(0, reinterpret_cast<const std::byte*>(&header) + kFrom, sizeof header - kFrom);
}

}  // namespace

// ---- A bsp_sync ---------------------------------------------------------------------------------

void BulkEnd::Enter(std::uint64_t superstep) {
  superstep_ = superstep + 1;
  said_here_ = here_due_ = taken_due_ = false;
  apart_ = free_ = buffered_ = gave_leave_ = leave_due_ = refused_ = false;
  puts_ = Puts::kNone;
  owed_.clear();
  owed_bytes_ = next_ = next_done_ = 0;
  if (heard_ == superstep_) SayHere();
}

void BulkEnd::SayHere() {
  if (said_here_) return;
  said_here_ = here_due_ = true;
}

void BulkEnd::Owe(const Put& put) {
  owed_.push_back(put);
  owed_bytes_ += put.bytes;
  puts_ = Puts::kWait;
  SayHere();
}

void BulkEnd::OweBuffered(const Range& range) {
  buffered_ = true;
  owed_range_ = range;
}

void BulkEnd::GiveLeave() {
  if (gave_leave_ || refused_) return;
  gave_leave_ = leave_due_ = true;
}

// Nothing is expected any more.
void BulkEnd::RefuseLeave() {
  if (gave_leave_ || refused_) return;
  refused_ = leave_due_ = true;
  expected_ = kNever;
}

// What was buffered still is in the range that was named.
void BulkEnd::TakeBack() {
  owed_.clear();
  owed_bytes_ = 0;
  puts_ = Puts::kNone;
  if (here_due_ && heard_ != superstep_) said_here_ = here_due_ = false;  // Nobody need know.
}

void BulkEnd::Leave() {
  if (in_left_ != 0 || puts_ == Puts::kUnderWay) broken_ = true;
  superstep_ = kNever;
  here_due_ = taken_due_ = leave_due_ = false;
}

// ---- Out ----------------------------------------------------------------------------------------

BulkEnd::Outgoing BulkEnd::NextOut() {
  if (broken_ || superstep_ == kNever) return {};
  if (out_head_left_ == 0 && out_body_left_ == 0) {
    if (here_due_) {
      here_due_ = false;
      ComposeHere();
    } else if (taken_due_) {
      taken_due_ = false;
      Compose(BulkHeader::kTaken);
    } else if (leave_due_) {
      leave_due_ = false;
      ComposeLeave();
    } else if (MayPut()) {
      puts_ = Puts::kUnderWay;
      ComposePiece();
    }
  }
  const std::byte* const head_end = reinterpret_cast<const std::byte*>(&out_head_ + 1);
  return {head_end - out_head_left_, out_head_left_, out_body_, out_body_left_};
}

bool BulkEnd::HasMore() const {
  if (broken_ || superstep_ == kNever) return false;
  return out_head_left_ != 0 || out_body_left_ != 0 || here_due_ || taken_due_ || leave_due_ ||
         MayPut();
}

void BulkEnd::Compose(BulkHeader::Kind kind) {
  out_head_ = {.magic = kBulkMagic,
               .crc32c = 0,
               .kind = kind,
               .flags = 0,
               .slot = 0,
               .superstep = superstep_ - 1,
               .offset = 0,
               .bytes = 0,
               .payload_crc32c = 0};
  out_head_.crc32c = CrcOf(out_head_);
  out_head_left_ = sizeof out_head_;
}

void BulkEnd::ComposeHere() {
  Compose(BulkHeader::kHere);
  if (next_ != owed_.size()) out_head_.flags |= BulkHeader::kPuts;
  if (apart_) out_head_.flags |= BulkHeader::kApart;
  if (buffered_) {
    out_head_.flags |= BulkHeader::kBuffered;
    out_head_.slot = Value(owed_range_.slot);
    out_head_.offset = owed_range_.offset;
    out_head_.bytes = static_cast<std::uint32_t>(owed_range_.bytes);
  }
  if (free_ && others_ == Others::kNone) {
    out_head_.flags |= BulkHeader::kFree;
    gave_leave_ = true;
  }
  out_head_.crc32c = CrcOf(out_head_);
}

void BulkEnd::ComposeLeave() {
  Compose(BulkHeader::kLeave);
  if (refused_) out_head_.flags |= BulkHeader::kRefused;
  out_head_.crc32c = CrcOf(out_head_);
}

void BulkEnd::ComposePiece() {
  const Put& put = owed_[next_];
  out_body_ = put.from + next_done_;
  out_body_left_ = std::min<std::uint64_t>(put.bytes - next_done_, kBulkPieceBytes);
  Compose(BulkHeader::kPiece);
  out_head_.slot = Value(put.slot);
  out_head_.offset = put.offset + next_done_;
  out_head_.bytes = static_cast<std::uint32_t>(out_body_left_);
  next_done_ += out_body_left_;
  if (next_done_ == put.bytes) {
    next_ += 1;
    next_done_ = 0;
  }
  if (next_ == owed_.size()) out_head_.flags |= BulkHeader::kLast;
  if (payloads_ == Payloads::kChecked) {
    out_head_.flags |= BulkHeader::kChecked;
    out_head_.payload_crc32c = Crc32c(0, out_body_, out_body_left_);
  }
  out_head_.crc32c = CrcOf(out_head_);
}

void BulkEnd::Sent(std::size_t bytes) {
  const std::size_t of_head = std::min(bytes, out_head_left_);
  out_head_left_ -= of_head;
  out_body_ += bytes - of_head;
  out_body_left_ -= bytes - of_head;
}

// ---- In -----------------------------------------------------------------------------------------

BulkEnd::Incoming BulkEnd::NextIn() {
  if (broken_ || superstep_ == kNever) return {};
  if (in_left_ != 0) return {in_to_, in_left_};
  return {reinterpret_cast<std::byte*>(&in_head_) + in_head_bytes_,
          sizeof in_head_ - in_head_bytes_};
}

BulkEnd::Came BulkEnd::Received(std::size_t bytes) {
  if (in_left_ != 0) return OnPayload(bytes);
  in_head_bytes_ += bytes;
  if (in_head_bytes_ != sizeof in_head_) return Came::kSome;
  in_head_bytes_ = 0;
  return OnHeader();
}

BulkEnd::Came BulkEnd::Fault() {
  broken_ = true;
  return Came::kFault;
}

// A piece of another superstep, or before kHere was said, is from who has given up, or is none.
BulkEnd::Came BulkEnd::OnHeader() {
  const BulkHeader& head = in_head_;
  if (head.magic != kBulkMagic || head.crc32c != CrcOf(head)) return Fault();
  const bool now = head.superstep + 1 == superstep_;
  switch (head.kind) {
    case BulkHeader::kHere:
      OnHere();
      if (now) SayHere();
      return Came::kSome;
    case BulkHeader::kLeave:
      if (now) OnLeave();
      return Came::kSome;
    case BulkHeader::kTaken:
      if (!now || puts_ != Puts::kUnderWay || next_ != owed_.size() || out_body_left_ != 0)
        return Fault();
      puts_ = Puts::kTaken;
      return Came::kSome;
    case BulkHeader::kPiece:
      if (!now || !TakesPiece() || head.bytes == 0 || head.bytes > kBulkPieceBytes) return Fault();
      in_left_ = head.bytes;
      in_crc_ = 0;
      return Came::kPiece;
    default:
      return Fault();
  }
}

// What is buffered comes only with leave, and where it was said to go.
bool BulkEnd::TakesPiece() const {
  if (!AsksForLeave()) return said_here_;
  return gave_leave_ && SlotId{in_head_.slot} == asked_.slot && in_head_.offset >= asked_.offset &&
         in_head_.offset - asked_.offset <= asked_.bytes &&
         in_head_.bytes <= asked_.bytes - (in_head_.offset - asked_.offset);
}

// It says so once in a superstep, and the newest word is of its newest one.
void BulkEnd::OnHere() {
  const BulkHeader& head = in_head_;
  const auto has = [&head](BulkHeader::Flag flag) { return (head.flags & flag) != 0; };
  if (head.superstep + 1 < heard_) return;
  heard_ = head.superstep + 1;
  if (has(BulkHeader::kPuts)) expected_ = heard_;
  heard_apart_ = has(BulkHeader::kApart);
  heard_buffered_ = has(BulkHeader::kBuffered);
  asked_ = {.slot = SlotId{head.slot}, .offset = head.offset, .bytes = head.bytes};
  if (has(BulkHeader::kFree) && others_ == Others::kNone) leave_ = heard_;
}

void BulkEnd::OnLeave() {
  if (puts_ != Puts::kWait || !buffered_) return;  // They went another way.
  if ((in_head_.flags & BulkHeader::kRefused) == 0) {
    leave_ = superstep_;
  } else {
    TakeBack();
  }
}

BulkEnd::Came BulkEnd::OnPayload(std::size_t bytes) {
  if ((in_head_.flags & BulkHeader::kChecked) != 0) in_crc_ = Crc32c(in_crc_, in_to_, bytes);
  in_to_ += bytes;
  in_left_ -= bytes;
  if (in_left_ != 0) return Came::kSome;
  if (in_crc_ != in_head_.payload_crc32c) return Fault();
  if ((in_head_.flags & BulkHeader::kLast) != 0) {
    taken_due_ = true;
    expected_ = kNever;
  }
  return Came::kSome;
}

}  // namespace bspnow::runtime
