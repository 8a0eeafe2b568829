#include "runtime/link/memory_room.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/unique_fd.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kUnseenBytesMax = 16 << 20;
// What the kernel takes for the processes is not all told, nor what chunks that are claimed already
// have still to be filled with.
constexpr std::uint64_t kSpareBytesMax = 16 << 20;
constexpr std::uint64_t kSpareParts = 64;
constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
constexpr std::size_t kTextBytes = 8192;

// What is not given up for others: files in the caches are, and pages that were lent to the system
// (MADV_FREE), which stand among these. Of version 1 all groups below count by other names, and the
// kernel's own memory cannot be told from caches.
constexpr const char* kHeld[] = {"inactive_anon",     "active_anon",      "unevictable",
                                 "kernel_stack",      "pagetables",       "total_inactive_anon",
                                 "total_active_anon", "total_unevictable"};
constexpr std::size_t kOfVersionTwo = 5;

// No memory of the program's, nor of stdio.
bool Read(const MemoryGroup& group, const char* name, char (&text)[kTextBytes]) {
  char path[MemoryGroup::kPathBytes + 64];
  const auto length = static_cast<int>(strnlen(group.path, MemoryGroup::kPathBytes));
  snprintf(path, sizeof path, "%.*s/%s", length, group.path, name);
  const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return false;
  std::size_t bytes = 0;
  while (bytes < kTextBytes - 1) {
    const ssize_t more = read(file.get(), text + bytes, kTextBytes - 1 - bytes);
    if (more <= 0) break;
    bytes += static_cast<std::size_t>(more);
  }
  text[bytes] = '\0';
  return bytes != 0;
}

// Of lines like "anon 4096".
std::uint64_t SumOf(const char* text, const char* const* names, std::size_t count) {
  std::uint64_t sum = 0;
  for (const char* line = text; line != nullptr && *line != '\0';) {
    const std::size_t length = strcspn(line, " \n");
    for (std::size_t i = 0; i < count; ++i) {
      if (strlen(names[i]) == length && strncmp(line, names[i], length) == 0)
        sum += strtoull(line + length, nullptr, 10);
    }
    line = strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return sum;
}

}  // namespace

// The caches are in the usage, which is quicker to read, and enough while there is much.
std::uint64_t MemoryRoom::Left(std::uint64_t wanted) const {
  const std::uint64_t spare = std::min(kSpareBytesMax, group_.limit_bytes / kSpareParts);
  const std::uint64_t limit = group_.limit_bytes - spare;
  char text[kTextBytes];
  const bool version_two = Read(group_, "memory.current", text);
  if (!version_two && !Read(group_, "memory.usage_in_bytes", text)) return kUnknown;
  const std::uint64_t usage = std::min<std::uint64_t>(strtoull(text, nullptr, 10), limit);
  if (wanted + 2 * kUnseenBytesMax <= limit - usage) return limit - usage;
  if (!Read(group_, "memory.stat", text)) return kUnknown;
  const std::uint64_t held =
      version_two ? SumOf(text, kHeld, kOfVersionTwo)
                  : SumOf(text, kHeld + kOfVersionTwo, std::size(kHeld) - kOfVersionTwo);
  return limit - std::min(held, usage);  // The statistics may lag behind.
}

// What others fill while it looks may be counted twice. So whoever finds too little looks again
// when they are done; they do not wait for anybody. While images are made the group has pages of
// their writers, too: if it is full the kernel kills one of these, and the job goes on.
bool MemoryRoom::Take(std::uint64_t bytes) {
  if (bytes == 0 || group_.limit_bytes == 0) return true;
  const std::uint64_t claimed = group_.claimed_bytes.fetch_add(bytes) + bytes;
  if (claimed <= group_.looks_at.load()) {
    group_.filling_bytes.fetch_add(bytes);
    return true;
  }
  for (;;) {
    std::uint64_t others = group_.filling_bytes.load();
    left_bytes_ = Left(bytes + others);
    if (bytes + others <= left_bytes_) {
      if (!group_.filling_bytes.compare_exchange_strong(others, others + bytes)) continue;
      const std::uint64_t more = (left_bytes_ - bytes - others) / 2;
      group_.looks_at.store(claimed + std::min(more, kUnseenBytesMax));
      return true;
    }
    if (group_.images.load() != 0) {
      group_.filling_bytes.fetch_add(bytes);
      return true;
    }
    if (others == 0) return false;
    constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 100'000};
    nanosleep(&kMoment, nullptr);  // tidy: others touch memory, and nobody is told when they have
  }
}

void MemoryRoom::Filled(std::uint64_t bytes) {
  if (bytes != 0 && group_.limit_bytes != 0) group_.filling_bytes.fetch_sub(bytes);
}

FillingMemory::FillingMemory(MemoryGroup& group, const MemoryTaker& taker, std::uint64_t bytes)
    : group_(group), bytes_(bytes) {
  MemoryRoom room(group);
  if (room.Take(bytes)) return;
  ReportFailure(
      "%s: pid %u needs %llu bytes more to keep what is transferred until the barrier, and %llu are"
      " left of the %llu that all processes here together may take, with what they hold themselves;"
      " transfer less at a time, use bsp_hpput and bsp_hpget, which need no buffer, or allow more"
      " memory (--memory, or the limit of the control group)",
      taker.call, Value(taker.pid), static_cast<unsigned long long>(bytes),
      static_cast<unsigned long long>(room.left_bytes()),
      static_cast<unsigned long long>(group.limit_bytes));
}

}  // namespace bspnow::runtime
