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
#include "runtime/transfers/bulk_leave.h"
#include "runtime/transfers/drma_delivery.h"
#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {

class BulkLanes {
 public:
  /// What it works with; of the root group, and stays.
  struct Parts {
    const Segment& segment;
    LaneDriver& lanes;
    const DrmaDelivery& delivery;
    Outbox& outbox;
  };
  void Attach(const Parts& parts, Pid self, std::uint32_t p);

  /// In bsp_sync, until Leave after the barrier. All puts and gets of the superstep were issued;
  /// `own`: whether there is anything but buffered puts among them.
  void Enter(std::uint64_t superstep, OwnTransfers own);
  void Leave();
  bool entered() const { return entered_; }

  /// A put to a process on another node, if there is a lane.
  void Owe(Pid pid, const BulkEnd::Put& put);
  /// Sends what is owed. Returns when all of that is taken, or goes another way.
  void SendAll();
  /// After that: what was owed to `pid` is in its place.
  bool Took(Pid pid) const;

  /// The outbox is sealed: sends what was kept there, if nothing else is transferred. What is in
  /// its place then has left the outbox.
  void SendKept(std::uint64_t called_ns);
  /// Whether large puts of that superstep are worth keeping.
  Outbox::LargePuts TreatmentIn(std::uint64_t superstep);

  /// Takes in what comes meanwhile; see SideWork.
  std::uint64_t SeeTo(std::uint64_t now_ns);
  std::uint32_t NameSources(pollfd* sources) const;
  bool SleepIfExpecting();
  void Awake() { due_ns_ = 0; }
  SideWork AsSideWork();

 private:
  // Less is through by chunks before two processes have had two turns each.
  static constexpr std::uint64_t kWorthALaneBytes = 512 << 10;

  struct Lane {
    Pid pid{};
    int fd = -1;
    BulkEnd end;
    std::uint64_t moved_ns = 0;      ///< When something was sent or came last.
    std::uint64_t lately_until = 0;  ///< Supersteps before it follow one in which a piece came.
  };

  bool Open();
  bool CameLately() const;  ///< By any lane.
  void EnterLane(Lane& lane);
  const DirectoryEntry& Owed(Pid pid) const;
  bool OfferKept(Lane& lane);
  /// What was kept was not taken: the next supersteps keep nothing, each time more of them.
  void Rest();
  void SeeToLeave();
  std::uint32_t FindOwn(Interval* intervals) const;
  bool Pump(std::uint64_t now_ns);
  bool Write(Lane& lane);
  bool Read(Lane& lane);
  void Fail(Lane& lane);
  bool AnyUnderWay(std::uint64_t start_ns, std::uint64_t now_ns);
  void Sleep() const;

  const Segment* segment_ = nullptr;
  LaneDriver* lanes_ = nullptr;
  const DrmaDelivery* delivery_ = nullptr;
  Outbox* outbox_ = nullptr;
  Pid self_{};
  std::uint32_t p_ = 0;
  OwnTransfers own_ = OwnTransfers::kOther;
  bool entered_ = false;
  bool open_ = false;  ///< In this bsp_sync.
  std::uint64_t superstep_ = 0;
  std::uint64_t since_ns_ = 0;    ///< Nothing has come.
  std::uint64_t due_ns_ = 0;      ///< The next look.
  std::uint64_t keeps_from_ = 0;  ///< A superstep; before it what was kept would not be taken.
  std::uint64_t rest_ = 0;        ///< For how many supersteps that was assumed last.
  std::uint32_t count_ = 0;
  Lane of_[kBulkLanesMax];
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_BULK_LANES_H_
