// Bulk lanes of one simulated process, driven as libbsp's BulkLanes drives its sockets, around the
// product's BulkEnd; and the area into which others put.
//
// What could go wrong, and must not:
// - Bytes of an old epoch come into the memory of a process that was restored since: a lane
//   belongs to one epoch, and both its ends do.
// - The answer to the last piece is lost, with all bytes in their place; or the one who gave it
//   dies then. Who did not hear it sends all again by the workers, in the same superstep, or is
//   restored with the others.
// - One direction of a lane is dead. No byte moves, and nobody says so: patience ends what waits.
// - Anything stalls: kHere, and comes in a later superstep, when those puts went another way; a
//   piece, and its rest comes after the barrier, while the program computes; or the answer.
// - A worker takes the lanes out of use in the middle of a piece.
// - A byte changes on its way.
// - What is buffered comes before the barrier although somebody still computes, and will get what
//   was there; or one of two processes that put to a third one is never heard of by that.
#ifndef TESTS_SIMULATION_SIM_BULK_H_
#define TESTS_SIMULATION_SIM_BULK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/transfers/bulk_leave.h"
#include "tests/simulation/sim_loop.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_pipe.h"

namespace bspnow {

/// Where others put: a cell for each put of a superstep, by who puts and its number there.
class SimArea {
 public:
  static constexpr std::size_t kCellBytes = 400;
  static constexpr std::uint32_t kCells = 3;

  /// What is put for a value, as long as the value says.
  static std::vector<std::byte> BytesOf(std::uint64_t value);

  /// nullptr if the area has no such place.
  std::byte* Find(std::uint32_t from, std::uint64_t offset, std::uint64_t bytes);
  /// By another way. True: some of it was there already.
  bool Put(std::uint32_t from, std::uint32_t index, std::uint64_t value);

  /// What was put, by who put and number; the area is empty then. False: it holds anything else.
  bool Take(std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& values);

 private:
  std::map<std::uint32_t, std::vector<std::byte>> areas_;  ///< By who puts there.
};

class SimBulk {
 public:
  struct Lane {
    std::uint32_t pid;
    std::shared_ptr<SimPipe> pipe;
    SimLink::End here;
  };
  struct World {
    SimLoop& loop;
    SimOracle& oracle;
    std::uint32_t processes;  ///< Of the job.
    /// All of them are in bsp_sync of this superstep, and none gets anything from this one.
    std::function<bool(std::uint64_t superstep)> unread;
    /// Later, unless the process is dead by then.
    std::function<void(std::uint64_t delay_ns, std::function<void()>)> after;
    /// Its lanes, if they may be used; none if not.
    std::function<std::vector<Lane>()> open;
  };

  SimBulk(World world, SimArea& area) : world_(std::move(world)), area_(area) {}
  SimBulk(const SimBulk&) = delete;
  SimBulk& operator=(const SimBulk&) = delete;
  ~SimBulk();

  /// It is in bsp_sync, until Leave. `own`, and to whom it puts something.
  void Enter(std::uint64_t superstep, runtime::OwnTransfers own, std::set<std::uint32_t> puts_to);
  void Owe(std::uint32_t pid, std::uint32_t self, std::uint32_t index, std::uint64_t value);
  /// After that: all of it is buffered.
  void Offer(std::uint32_t pid, std::uint32_t self);
  /// `done`: all that was owed is in its place, or has to go another way.
  void SendAll(std::function<void()> done);
  bool Took(std::uint32_t pid) const;
  bool Buffered(std::uint32_t pid) const {
    return own_ == runtime::OwnTransfers::kNone && puts_to_.contains(pid);
  }
  void Leave();

 private:
  struct End {
    Lane lane;
    bool closed = false;
    runtime::BulkEnd end{};
    std::uint64_t moved_ns = 0;
  };

  bool Open();
  void OnNews();
  void Next(std::uint64_t delay_ns);
  void Pump();
  bool Write(End& end);
  bool Read(End& end);
  void SeeToLeave();
  bool AnyUnderWay();
  void Fail(End& end);

  World world_;
  SimArea& area_;
  bool entered_ = false;
  bool open_ = false;  ///< In this bsp_sync.
  bool sending_ = false;
  std::uint64_t superstep_ = 0;
  runtime::OwnTransfers own_ = runtime::OwnTransfers::kOther;
  std::set<std::uint32_t> puts_to_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t turn_ = 0;    ///< Of its next look; older ones are not made.
  std::uint64_t due_ns_ = 0;  ///< When that is.
  std::function<void()> done_;
  std::vector<std::vector<std::byte>> sources_;
  std::map<std::uint32_t, End> ends_;  ///< By pid.
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_BULK_H_
