// What bsp-host reports of one checkpoint on this node, until everything has been reported. Pure.
#ifndef WORKER_CHECKPOINT_COLLECTION_H_
#define WORKER_CHECKPOINT_COLLECTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "worker/host_channel.h"

namespace bspnow {

class CheckpointCollection {
 public:
  struct Image {
    std::uint64_t output_bytes = 0;
    std::uint64_t error_bytes = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t cpu_ns = 0;
    bool reported = false;
  };

  void OnReport(const HostReport& report);

  /// Nobody writes any more.
  bool complete() const { return files_reported_ && reported_ == images_.size(); }

  /// Why there is no checkpoint, as far as it is known; empty: all went well.
  const std::string& failure() const { return failure_; }

  const std::map<Pid, Image>& images() const { return images_; }
  Pid files_pid() const { return files_pid_; }

  /// Names of all files, in the store.
  std::vector<std::string> Names(std::uint64_t checkpoint) const;

  /// It is no longer wanted: what was written is to be removed.
  void GiveUp(const std::string& reason) { Fail(reason); }

 private:
  void Fail(const std::string& reason) {
    if (failure_.empty()) failure_ = reason;
  }

  std::map<Pid, Image> images_;
  std::size_t reported_ = 0;
  bool files_reported_ = false;
  Pid files_pid_{0};
  std::string failure_;
};

}  // namespace bspnow

#endif  // WORKER_CHECKPOINT_COLLECTION_H_
