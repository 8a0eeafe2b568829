// Outbox: transfers and messages in turn that share a header (PutRun, GetRun, MessageRun).
#include <algorithm>

#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {

void Outbox::BeginRun(std::byte* at, const RemoteRange& to, const void* source) {
  *reinterpret_cast<PutRun*>(at) = PutRun{
      .slot = Value(to.slot) | kRun, .bytes = static_cast<std::uint32_t>(to.bytes), .count = 1};
  Writer& w = writer(to.pid, kPuts);
  w.last_record = at;
  w.tail = at + sizeof(PutRun);
  OpenRun(to.pid, kPuts, to);
  WriteToRun(w, to, source);
}

bool Outbox::BeginRun(const RemoteRange& from, const void* destination) {
  Writer& w = writer(from.pid, kGets);
  if (w.last_record == nullptr || from.bytes > kRunBytesMax ||
      !EndsBy(w.end, w.tail, 2 * sizeof(GetRunEntry)))
    return false;
  const GetRecord last = *reinterpret_cast<const GetRecord*>(w.last_record);
  const std::int64_t distance = DistanceInRun(destination, last.destination);
  if (last.bytes != from.bytes || last.slot != Value(from.slot) || !FitsARun(distance) ||
      std::max(last.offset, from.offset) > kRunOffsetMax)
    return false;
  *reinterpret_cast<GetRun*>(w.last_record) = {
      .slot = last.slot | kRun, .bytes = last.bytes, .count = 2, .destination = last.destination};
  OpenRun(from.pid, kGets, from);
  w.run_at = last.destination;
  WriteToRun(w, last.offset, 0);
  WriteToRun(w, from.offset, distance);
  return true;
}

// No longer than two records.
bool Outbox::BeginRun(Writer& w, std::size_t long_tag, std::size_t payload_bytes) const {
  if (w.last_record == nullptr || long_tag != 0 || payload_bytes >= kMessageAlign ||
      messages_apart_ || site_bytes_ != 0)
    return false;
  const MessageRecord last = *reinterpret_cast<const MessageRecord*>(w.last_record);
  const std::uint64_t stride = StrideInRun(payload_bytes);
  if (last.payload_and_padding != payload_bytes ||
      !EndsBy(w.end, w.last_record, sizeof(MessageRun) + 2 * stride))
    return false;
  std::byte* const first = w.last_record + sizeof(MessageRun);
  std::memmove(first + sizeof last.tag, first, stride - sizeof last.tag);
  std::memcpy(first, last.tag, sizeof last.tag);
  *reinterpret_cast<MessageRun*>(w.last_record) = {
      .count = 2, .payload_and_padding = payload_bytes | MessageRecord::kRun};
  w.tail = first + stride;
  w.run_bytes = static_cast<std::uint32_t>(payload_bytes);
  w.run_limit = w.end - stride + 1;
  return true;
}

void Outbox::OpenRun(Pid pid, Kind kind, const RemoteRange& range) {
  Writer& w = writer(pid, kind);
  const std::uint64_t there = segment_->slots(pid)[Value(range.slot)].bytes;
  w.offset_end = there < range.bytes ? 0 : std::min(there - range.bytes, kRunOffsetMax) + 1;
  w.run_slot = Value(range.slot);
  w.run_bytes = static_cast<std::uint32_t>(range.bytes);
  w.run_limit = w.end - StrideOf(kind, range.bytes) + 1;
}

// What the header says already has been counted, when it was written.
void Outbox::EndOpenRun(Pid pid, Kind kind) {
  Writer& w = writer(pid, kind);
  w.run_limit = nullptr;
  DirectoryEntry& owed = entry(pid);
  const auto more = [&](std::uint64_t& count, std::size_t header_bytes) {
    const auto bytes = static_cast<std::uint64_t>(w.tail - w.last_record) - header_bytes;
    const std::uint64_t before = count;
    count = bytes / StrideOf(kind, w.run_bytes);
    return count - before;
  };
  if (kind == kMessages) {
    const std::uint64_t messages =
        more(reinterpret_cast<MessageRun*>(w.last_record)->count, sizeof(MessageRun));
    owed.message_count += static_cast<std::uint32_t>(messages);  // See kMessagesMax.
    owed.message_bytes += messages * w.run_bytes;
    return;
  }
  const std::uint64_t transfers =
      kind == kPuts ? more(reinterpret_cast<PutRun*>(w.last_record)->count, sizeof(PutRun))
                    : more(reinterpret_cast<GetRun*>(w.last_record)->count, sizeof(GetRun));
  owed.transfers += transfers;
  (kind == kPuts ? owed.bytes_to : owed.bytes_from) += transfers * w.run_bytes;
}

}  // namespace bspnow::runtime
