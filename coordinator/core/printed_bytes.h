// How much a job has printed, each byte once, however often it is sent. Pure.
#ifndef COORDINATOR_CORE_PRINTED_BYTES_H_
#define COORDINATOR_CORE_PRINTED_BYTES_H_

#include <cstdint>
#include <vector>

#include "coordinator/output/log_record.h"

namespace bspnow::coordinator {

class PrintedBytes {
 public:
  /// An earlier coordinator knew of this many, of all processes.
  void Restore(std::uint64_t bytes) { before_ = bytes; }
  /// This stream goes to `end` at least.
  void OnPrinted(const LogStream& stream, std::uint64_t end);
  /// An epoch begins: its log was cut back, and has this much of each stream.
  void OnCut(const StreamEnds& kept);

  /// After Restore no more than were printed: streams of which nothing has come since count as far
  /// as it said, not one by one.
  std::uint64_t bytes() const { return before_ > of_streams_ ? before_ : of_streams_; }

 private:
  std::uint64_t before_ = 0;
  std::uint64_t of_streams_ = 0;  ///< The sum of ends_.
  StreamEnds ends_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_PRINTED_BYTES_H_
