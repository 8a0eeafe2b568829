// How much of the coordinator's disk each user's programs, output and files take, against a quota.
// What lies there is counted from time to time; what is on its way counts from its announcement on.
// May be used by any thread.
#ifndef COORDINATOR_KEPT_BYTES_H_
#define COORDINATOR_KEPT_BYTES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <absl/status/status.h>

namespace bspnow::coordinator {

using BytesByUser = std::map<std::string, std::uint64_t>;

class KeptBytes {
 public:
  /// For each user alike; 0: no limit.
  explicit KeptBytes(std::uint64_t most) : most_(most) {}

  /// Room for what is announced. An error says how much is kept and may be.
  absl::Status Reserve(const std::string& user, std::uint64_t bytes);
  /// It is on the disk now: counted once more when all is.
  void Stored(const std::string& user, std::uint64_t bytes);
  /// It did not come.
  void GiveBack(const std::string& user, std::uint64_t bytes);

  /// Whether there is room for anything.
  absl::Status Check(const std::string& user) const;

  /// What lies on the disk, in place of what was known of it.
  void SetStored(BytesByUser stored);

 private:
  std::uint64_t Of(const std::string& user) const;
  absl::Status Full(const std::string& user, std::uint64_t more) const;

  const std::uint64_t most_;
  mutable std::mutex mutex_;
  BytesByUser stored_;
  BytesByUser coming_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_KEPT_BYTES_H_
