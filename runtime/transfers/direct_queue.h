// The unbuffered transfers of the superstep that runs: issued by bsp_hpput and bsp_hpget, performed
// in bsp_sync, before the barrier. Each goes the shortest way there is: memory to memory on this
// node; to another node by a bulk lane, or in chunks that the worker sends at once; else through
// the outbox.
#ifndef RUNTIME_TRANSFERS_DIRECT_QUEUE_H_
#define RUNTIME_TRANSFERS_DIRECT_QUEUE_H_

#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"
#include "base/poll_wait.h"
#include "runtime/transfers/bulk_lanes.h"
#include "runtime/transfers/direct_transfer.h"
#include "runtime/transfers/drma_delivery.h"
#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {

class DirectQueue {
 public:
  /// What it works with; of the group, and stays.
  struct Parts {
    const Segment& segment;
    Outbox& outbox;
    DrmaDelivery& delivery;
    BulkLanes& bulk;
    PollWait& wait;
  };
  void Attach(const Parts& parts, Pid self, std::uint32_t p);

  DirectPeers& peers() { return peers_; }
  bool empty() const { return transfers_.empty(); }
  void Append(const DirectTransfer& transfer) { transfers_.push_back(transfer); }

  /// Performs what was appended in `superstep`. Ends the job if an area is no memory.
  void PerformAll(std::uint64_t superstep);

  /// Moves what was appended to the outbox instead.
  void BufferAll();

  /// A get, at once (bsp_direct_get, here `call`). Ends the job if that is not possible.
  void GetNow(const char* call, const DirectTransfer& transfer, std::uint64_t superstep);

  /// Returns once `pid` has begun `superstep`: before it may still be writing what the last one
  /// delivered. Who lives on another node is not touched before the barrier.
  void AwaitStart(Pid pid, std::uint64_t superstep);

 private:
  void SendByBulkLanes();
  void Perform(const DirectTransfer& transfer, std::uint64_t superstep);
  DirectResult Copy(const DirectTransfer& transfer, std::uint64_t superstep);
  void Buffer(const DirectTransfer& transfer);
  void Send(const DirectTransfer& transfer);

  const Segment* segment_ = nullptr;
  Outbox* outbox_ = nullptr;
  DrmaDelivery* delivery_ = nullptr;
  BulkLanes* bulk_ = nullptr;
  PollWait* wait_ = nullptr;
  Pid self_{};
  DirectPeers peers_;
  GrowArray<DirectTransfer> transfers_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_DIRECT_QUEUE_H_
