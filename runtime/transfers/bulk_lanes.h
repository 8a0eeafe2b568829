// This process's bulk lanes: sockets around BulkEnd. Whoever waits in bsp_sync sees to them, so
// that two processes which put to each other never wait for each other's sockets.
#ifndef RUNTIME_TRANSFERS_BULK_LANES_H_
#define RUNTIME_TRANSFERS_BULK_LANES_H_

#include <poll.h>

#include <cstdint>

#include "base/ids.h"
#include "base/poll_wait.h"
#include "runtime/link/lane_driver.h"
#include "runtime/transfers/bulk_end.h"
#include "runtime/transfers/drma_delivery.h"

namespace bspnow::runtime {

class BulkLanes {
 public:
  /// Of the root group; `lanes` and `delivery` stay.
  void Attach(LaneDriver& lanes, const DrmaDelivery& delivery);

  /// In bsp_sync, until Leave after the barrier.
  void Enter(std::uint64_t superstep);
  void Leave();

  /// A put to a process on another node, if there is a lane.
  void Owe(Pid pid, const BulkEnd::Put& put);
  /// Sends what is owed. Returns when all of that is taken, or goes another way.
  void SendAll();
  /// After that: what was owed to `pid` is in its place.
  bool Took(Pid pid) const;

  /// Takes in what comes meanwhile; see SideWork.
  std::uint64_t SeeTo(std::uint64_t now_ns);
  std::uint32_t NameSources(pollfd* sources) const;
  bool SleepIfExpecting();
  void Awake() { due_ns_ = 0; }
  SideWork AsSideWork();

 private:
  struct Lane {
    Pid pid{};
    int fd = -1;
    BulkEnd end;
    std::uint64_t moved_ns = 0;  ///< When something was sent or came last.
  };

  bool Open();
  bool Pump(std::uint64_t now_ns);
  bool Write(Lane& lane);
  bool Read(Lane& lane);
  void Fail(Lane& lane);
  bool AnyUnderWay(std::uint64_t start_ns, std::uint64_t now_ns);
  void Sleep() const;

  LaneDriver* lanes_ = nullptr;
  const DrmaDelivery* delivery_ = nullptr;
  bool entered_ = false;
  bool open_ = false;  ///< In this bsp_sync.
  std::uint64_t superstep_ = 0;
  std::uint64_t lately_until_ = 0;  ///< Supersteps before it follow one in which a piece came.
  std::uint64_t since_ns_ = 0;      ///< Nothing has come.
  std::uint64_t due_ns_ = 0;        ///< The next look.
  std::uint32_t count_ = 0;
  Lane of_[kBulkLanesMax];
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_BULK_LANES_H_
