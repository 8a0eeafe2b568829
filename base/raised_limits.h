// The limits on resources that daemons need raised, and programs must get back as they were.
#ifndef BASE_RAISED_LIMITS_H_
#define BASE_RAISED_LIMITS_H_

#include <sys/resource.h>

#include <cstdint>

namespace bspnow {

class RaisedLimits {
 public:
  /// Raises the soft limits on descriptors and on file sizes (a memfd counts as a file) to the hard
  /// ones.
  RaisedLimits();

  /// How many descriptors this process may have.
  std::uint64_t descriptors() const { return descriptors_; }

  /// Sets them back, in a child that is about to become a program. Async-signal-safe.
  void Restore() const;

 private:
  rlimit original_descriptors_;
  rlimit original_file_bytes_;
  std::uint64_t descriptors_;
};

}  // namespace bspnow

#endif  // BASE_RAISED_LIMITS_H_
