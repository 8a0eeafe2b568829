// Whether the kernel has killed a process for want of memory: it counts them, by control group and
// for the whole machine.
#ifndef WORKER_JOB_MEMORY_KILLS_H_
#define WORKER_JOB_MEMORY_KILLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bspnow::worker {

/// N of a file with lines of "NAME N".
std::optional<std::uint64_t> NumberNamed(const std::string& file, const std::string& name);

/// v2's memory.events, which has those of all groups below; v1's memory.oom_control.
std::vector<std::string> MemoryKillFilesOf(const std::string& group);

/// The worker's own groups, and the machine where they count nothing.
std::vector<std::string> MemoryKillFilesOfWorker();

class MemoryKills {
 public:
  MemoryKills() = default;
  /// Of the first of these files that counts any, from now on.
  explicit MemoryKills(const std::vector<std::string>& files);

  /// There was one since the last call.
  bool Take();
  /// To be called now and then. True: one is forgotten now. A kill after which its job goes on, of
  /// who wrote an image, say, no longer counts as a part of what comes later.
  bool OnLook(std::uint64_t now_ns);

 private:
  std::uint64_t Count() const;

  std::string file_;  ///< Empty: none counts.
  std::uint64_t known_ = 0;
  std::uint64_t seen_ = 0;     ///< At the last look,
  std::uint64_t seen_ns_ = 0;  ///< and since when.
};

}  // namespace bspnow::worker

#endif  // WORKER_JOB_MEMORY_KILLS_H_
