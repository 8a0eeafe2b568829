#include "runtime/transfers/full_check.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "runtime/link/call_site.h"
#include "runtime/link/chain.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kPieceBytes = 4096;
constexpr std::uint64_t kFirstHash = 0xcbf29ce484222325u;

// Not cryptographic: it shows whether the data changed.
std::uint64_t Hash(const std::byte* data, std::size_t bytes, std::uint64_t hash) {
  for (std::size_t at = 0; at < bytes; at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, std::min(sizeof word, bytes - at));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

void FullCheck::Attach(const Segment& segment, const RegistrationTable& registrations,
                       DirectPeers& peers, Pid self, std::uint32_t p) {
  on_ = segment.layout().check_full != 0;
  segment_ = &segment;
  registrations_ = &registrations;
  peers_ = &peers;
  self_ = self;
  p_ = p;
}

// 0 where the system forbids looking: then this area is not checked.
std::uint64_t FullCheck::HashRemote(const RemoteRange& range) {
  if (!peers_->Reaches(range.pid)) return 0;
  const RegisteredArea& area = segment_->slots(range.pid)[Value(range.slot)];
  const auto os_pid = static_cast<pid_t>(segment_->cell(range.pid).os_pid);
  std::uint64_t hash = kFirstHash;
  std::byte piece[kPieceBytes];
  for (std::uint64_t at = 0; at < range.bytes; at += kPieceBytes) {
    const std::size_t bytes = std::min<std::uint64_t>(kPieceBytes, range.bytes - at);
    const iovec local{piece, bytes};
    const iovec remote{reinterpret_cast<void*>(area.address + range.offset + at), bytes};
    if (process_vm_readv(os_pid, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(bytes)) return 0;
    hash = Hash(piece, bytes, hash);
  }
  return hash;
}

void FullCheck::Watch(const DirectTransfer& transfer) {
  const auto* local = static_cast<const std::byte*>(transfer.local);
  watched_.push_back(Watched{.transfer = transfer,
                             .local_hash = Hash(local, transfer.remote.bytes, kFirstHash),
                             .remote_hash = HashRemote(transfer.remote)});
}

void FullCheck::CompareWatched() {
  for (const Watched& w : watched_) {
    const RemoteRange& remote = w.transfer.remote;
    const bool put = w.transfer.direction == Direction::kPut;
    const char* call = put ? "bsp_hpput" : "bsp_hpget";
    const auto* local = static_cast<const std::byte*>(w.transfer.local);
    const bool here = Hash(local, remote.bytes, kFirstHash) != w.local_hash;
    const bool there = HashRemote(remote) != w.remote_hash;
    if (!here && !there) continue;
    char site[kCallSiteTextBytes];
    DescribeCallSite(segment_->cell(self_).os_pid, w.transfer.call_site, site);
    ReportMisuse(call,
                 "the %s of %llu bytes on pid %u changed between the call at %s and the end of"
                 " the superstep; leave it alone until bsp_sync, or use %s",
                 here == put ? "source" : "destination",
                 static_cast<unsigned long long>(remote.bytes),
                 here ? Value(self_) : Value(remote.pid), site, put ? "bsp_put" : "bsp_get");
  }
  watched_.clear();
}

void FullCheck::FindOverlaps(unsigned parity) {
  written_.clear();
  for (std::uint32_t q = 0; q < p_; ++q) {
    const DirectoryEntry& entry = segment_->entry(Pid{q}, self_, parity);
    ChainReader chain(segment_->arena(Pid{q}), entry.puts);
    while (!chain.done()) {
      const auto& put = *reinterpret_cast<const PutRecord*>(chain.record());
      const std::uint64_t begin = registrations_->Area(SlotId{put.slot}).address + put.offset;
      std::uint64_t call_site;
      std::memcpy(&call_site, chain.record() + sizeof put, sizeof call_site);
      written_.push_back(Written{begin, begin + put.bytes, q, call_site});
      chain.Skip(sizeof put + sizeof call_site + put.bytes, 8);
    }
  }
  std::sort(written_.begin(), written_.end(),
            [](const Written& a, const Written& b) { return a.begin < b.begin; });
  // The area that reaches furthest so far, and the one that does so among other processes'.
  const Written* furthest = nullptr;
  const Written* other = nullptr;
  for (const Written& w : written_) {
    if (furthest != nullptr && furthest->pid != w.pid && furthest->end > w.begin) {
      ReportOverlap(*furthest, w);
    }
    if (other != nullptr && other->pid != w.pid && other->end > w.begin) ReportOverlap(*other, w);
    if (furthest == nullptr || w.end > furthest->end) {
      if (furthest != nullptr && furthest->pid != w.pid) other = furthest;
      furthest = &w;
    } else if (w.pid != furthest->pid && (other == nullptr || w.end > other->end)) {
      other = &w;
    }
  }
}

void FullCheck::ReportOverlap(const Written& first, const Written& second) const {
  char sites[2][kCallSiteTextBytes];
  const Written* both[2] = {&first, &second};
  for (int i = 0; i < 2; ++i) {
    const Pid pid{both[i]->pid};
    const std::uint32_t os_pid = segment_->IsHere(pid) ? segment_->cell(pid).os_pid : kElsewhere;
    DescribeRecordedSite(os_pid, both[i]->call_site, sites[i]);
  }
  const std::uint64_t end = std::min(first.end, second.end);
  ReportMisuse("bsp_sync",
               "puts overlap in %llu bytes at 0x%llx on pid %u: pid %u put there at %s,"
               " pid %u at %s; which one wins is undefined, so let only one process write there",
               static_cast<unsigned long long>(end - second.begin),
               static_cast<unsigned long long>(second.begin), Value(self_), first.pid, sites[0],
               second.pid, sites[1]);
}

}  // namespace bspnow::runtime
