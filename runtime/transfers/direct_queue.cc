#include "runtime/transfers/direct_queue.h"

#include <string.h>

#include <algorithm>

#include "base/clock.h"
#include "base/copy.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {

void DirectQueue::Attach(const Parts& parts, Pid self, std::uint32_t p) {
  segment_ = &parts.segment;
  outbox_ = &parts.outbox;
  delivery_ = &parts.delivery;
  bulk_ = &parts.bulk;
  wait_ = &parts.wait;
  self_ = self;
  peers_.Attach(parts.segment, self, p);
}

// In bsp_sync others may put here meanwhile, by bulk lanes, and hold one that does not read for
// broken.
void DirectQueue::AwaitStart(Pid pid, std::uint64_t superstep) {
  if (!segment_->IsHere(pid)) return;
  SharedCounter& started = segment_->cell(pid).started;
  const auto begun = static_cast<std::uint32_t>(superstep + 1);
  if (!bulk_->entered()) return wait_->Until(started, begun);
  const auto news = [&started]() -> Watched { return {started.value, started.value.load()}; };
  while (!wait_->UntilNews(started, begun, news(), bulk_->AsSideWork())) continue;
}

void DirectQueue::PerformAll(std::uint64_t superstep) {
  SendByBulkLanes();
  for (const DirectTransfer& transfer : transfers_) {
    bulk_->SeeTo(NowNs());  // Others may put here meanwhile.
    if (segment_->IsHere(transfer.remote.pid)) {
      Perform(transfer, superstep);
    } else if (transfer.direction == Direction::kPut && bulk_->Took(transfer.remote.pid)) {
      outbox_->CountDirectPut(transfer.remote.pid, transfer.remote.bytes);
    } else {
      Send(transfer);
    }
  }
  transfers_.clear();
}

void DirectQueue::SendByBulkLanes() {
  for (const DirectTransfer& transfer : transfers_) {
    const RemoteRange& remote = transfer.remote;
    if (transfer.direction == Direction::kGet || segment_->IsHere(remote.pid)) continue;
    bulk_->Owe(remote.pid, {.slot = remote.slot,
                            .offset = remote.offset,
                            .from = static_cast<const std::byte*>(transfer.local),
                            .bytes = remote.bytes});
  }
  bulk_->SendAll();
}

void DirectQueue::BufferAll() {
  for (const DirectTransfer& transfer : transfers_) Buffer(transfer);
  transfers_.clear();
}

void DirectQueue::Perform(const DirectTransfer& transfer, std::uint64_t superstep) {
  const RemoteRange& remote = transfer.remote;
  const bool put = transfer.direction == Direction::kPut;
  const DirectResult result = Copy(transfer, superstep);
  if (result == DirectResult::kBadAddress) {
    ReportMisuse(
        put ? "bsp_hpput" : "bsp_hpget",
        "the %llu bytes at %s %p here, or the area on pid %u, are not memory of the program",
        static_cast<unsigned long long>(remote.bytes), put ? "src" : "dst", transfer.local,
        Value(remote.pid));
  }
  if (result == DirectResult::kRefused) {
    Buffer(transfer);
  } else if (put) {
    outbox_->CountDirectPut(remote.pid, remote.bytes);
  } else {
    outbox_->CountDirectGet(remote.pid, remote.bytes);
  }
}

DirectResult DirectQueue::Copy(const DirectTransfer& transfer, std::uint64_t superstep) {
  const RemoteRange& remote = transfer.remote;
  const std::uint64_t address =
      segment_->slots(remote.pid)[Value(remote.slot)].address + remote.offset;
  if (remote.pid != self_) {
    AwaitStart(remote.pid, superstep);
    return peers_.Perform(transfer, address);
  }
  const bool put = transfer.direction == Direction::kPut;
  auto* area = reinterpret_cast<std::byte*>(address);
  auto* local = static_cast<std::byte*>(transfer.local);
  if (area + remote.bytes <= local || local + remote.bytes <= area) {
    bspnow::Copy(put ? area : local, put ? local : area, remote.bytes);
  } else {
    memmove(put ? area : local, put ? local : area, remote.bytes);
  }
  return DirectResult::kDone;
}

void DirectQueue::Buffer(const DirectTransfer& transfer) {
  if (transfer.direction == Direction::kPut) {
    outbox_->AppendPut(transfer.remote, transfer.local, transfer.call_site);
  } else {
    outbox_->AppendGet(transfer.remote, transfer.local, transfer.call_site);
  }
}

// To or from another node. A put goes in parts, between which this process writes what others put
// here: both need it, and what lies about for long leaves the caches. What a get brings needs a
// buffer on its way here in any case.
void DirectQueue::Send(const DirectTransfer& transfer) {
  if (transfer.direction == Direction::kGet || !outbox_->HandsOver() ||
      outbox_->FitsAFrame(transfer.remote))
    return Buffer(transfer);
  outbox_->CountDirectPut(transfer.remote.pid, transfer.remote.bytes);
  RemoteRange part = transfer.remote;
  const auto* from = static_cast<const std::byte*>(transfer.local);
  for (std::uint64_t left = transfer.remote.bytes; left != 0; left -= part.bytes) {
    part.bytes = std::min(left, Outbox::kHandedPutBytesMax);
    const Watched place = outbox_->AwaitsPlace();
    do {
      delivery_->WriteEarly(outbox_->parity());
      WaitWhile(place, delivery_->EarlyNews(outbox_->parity()), bulk_->AsSideWork());
    } while (!place.Changed());
    outbox_->HandDirectPut(part, from);
    part.offset += part.bytes;
    from += part.bytes;
  }
}

void DirectQueue::GetNow(const char* call, const DirectTransfer& transfer,
                         std::uint64_t superstep) {
  const RemoteRange& remote = transfer.remote;
  if (!segment_->IsHere(remote.pid)) {
    ReportMisuse(call,
                 "pid %u lives on another node, whose memory cannot be read at once; use bsp_get",
                 Value(remote.pid));
  }
  const DirectResult result = Copy(transfer, superstep);
  if (result == DirectResult::kRefused) {
    ReportMisuse(call,
                 "this system forbids reading the memory of pid %u (process_vm_readv); use bsp_get",
                 Value(remote.pid));
  }
  if (result == DirectResult::kBadAddress) {
    ReportMisuse(call,
                 "the %llu bytes at dst %p here or at src on pid %u are not memory of the program",
                 static_cast<unsigned long long>(remote.bytes), transfer.local, Value(remote.pid));
  }
  outbox_->CountDirectGet(remote.pid, remote.bytes);
}

}  // namespace bspnow::runtime
