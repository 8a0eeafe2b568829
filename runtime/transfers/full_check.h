// BSP_CHECK=full: finds what BSPlib leaves undefined, and names the call sites.
//   - Puts of different processes that overlap: "the result at the overlapping region will be
//     nondeterministically chosen" (BSPlib 1997, "Direct Remote Memory Access").
//   - Memory that changes under an unbuffered transfer: "correct data delivery is only guaranteed
//     if" nobody alters source and destination (same paper, "Copy to remote memory").
// In this mode records carry call sites and are not merged, each superstep has a second barrier,
// and unbuffered transfers are watched, and then buffered. It costs time, never a result.
#ifndef RUNTIME_TRANSFERS_FULL_CHECK_H_
#define RUNTIME_TRANSFERS_FULL_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"
#include "runtime/link/link_segment.h"
#include "runtime/transfers/direct_transfer.h"
#include "runtime/transfers/registration_table.h"

namespace bspnow::runtime {

class FullCheck {
 public:
  void Attach(const Segment& segment, const RegistrationTable& registrations, DirectPeers& peers,
              Pid self, std::uint32_t p);

  bool on() const { return on_; }

  /// Remembers what both areas of an unbuffered transfer hold when it is issued; of an area on
  /// another node, whose memory nobody here can read, nothing. The owner of the remote area must be
  /// in the same superstep.
  void Watch(const DirectTransfer& transfer);

  /// Ends the job if a watched area has changed; when all processes are done with computing.
  void CompareWatched();

  /// Ends the job if puts of different processes to this one overlap.
  void FindOverlaps(unsigned parity);

 private:
  struct Watched {
    DirectTransfer transfer;
    std::uint64_t local_hash;
    std::uint64_t remote_hash;
  };
  struct Written {
    std::uint64_t begin;  ///< Addresses here.
    std::uint64_t end;
    std::uint32_t pid;
    std::uint64_t call_site;
  };

  std::uint64_t HashRemote(const RemoteRange& range);
  [[noreturn]] void ReportOverlap(const Written& first, const Written& second) const;

  bool on_ = false;
  const Segment* segment_ = nullptr;
  const RegistrationTable* registrations_ = nullptr;
  DirectPeers* peers_ = nullptr;
  Pid self_{};
  std::uint32_t p_ = 0;
  GrowArray<Watched> watched_;
  GrowArray<Written> written_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_FULL_CHECK_H_
