// Processes that run one after another, on one machine: one of them has the turn and runs, the
// others sleep. Who has to wait for something that another must do passes the turn on, to the next
// one by number. So what runs, and in which order, depends on the programs alone, and so does the
// order of what they print: it has been read from its pipe before the next one runs.
//
// The turn is one word. Only who has it writes it, in one store, so no moment of death loses it:
// who has died has it or does not. Whoever reaps the processes takes the dead out of the order
// (Leave), which passes on a turn that one of them had.
#ifndef BASE_TURN_H_
#define BASE_TURN_H_

#include <atomic>
#include <cstdint>

namespace bspnow {

/// In shared memory, all zero at the start: number 0 has the turn.
struct alignas(64) TurnOrder {
  std::atomic<std::uint32_t> holder;
};

/// Of each process. `bell` grows whenever the turn comes to it: what it sleeps on.
struct alignas(64) TurnPlace {
  std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> left;  ///< 1: the turn does not come to it any more.
};

/// As one process, or who reaps it, sees the order.
class Turn {
 public:
  Turn() = default;
  Turn(TurnOrder& order, TurnPlace* places, std::uint32_t count, std::uint32_t self)
      : order_(&order), places_(places), count_(count), self_(self) {}

  /// False: the processes take no turns.
  bool taken() const { return order_ != nullptr; }

  std::uint32_t holder() const { return order_->holder.load(); }

  /// Sleeps until this process has the turn: as long as the others compute.
  void Await() const;

  /// Lets the others go first, each until it waits or has left.
  void Pass() {
    AwaitReaders();
    Hand(self_, self_);
    Await();
  }

  /// The same, and the first one by number goes first.
  void BeginAnew();

  /// Pass, or a yield to whoever else runs if no turns are taken.
  void Yield();

  /// The process has ended. By who reaps it; no process waits for it from then on.
  void Leave() const;

 private:
  static constexpr int kOutputs = 2;  // Standard output and error.

  void AwaitReaders();
  std::uint32_t After(std::uint32_t number) const;
  void Hand(std::uint32_t from, std::uint32_t after) const;
  void Ring(std::uint32_t number) const;

  TurnOrder* order_ = nullptr;
  TurnPlace* places_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t self_ = 0;
  bool unread_[kOutputs] = {};  ///< Nobody has read there for long: it is not waited for any more.
};

}  // namespace bspnow

#endif  // BASE_TURN_H_
