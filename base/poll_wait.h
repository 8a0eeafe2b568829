// Waiting for a word in shared memory: poll with sched_yield for a bounded time, then sleep in the
// kernel. A wake-up costs some 25 us, a yield under 1 us; but who waits long must not burn a core
// that a computing process could use. The bound adapts: a long wait halves it, a short one that
// ended in sleep restores it.
#ifndef BASE_POLL_WAIT_H_
#define BASE_POLL_WAIT_H_

#include <atomic>
#include <cstdint>

#include "base/turn.h"

struct pollfd;

namespace bspnow {

/// A counter in shared memory that only grows (modulo 2^32), and the number of its sleepers.
struct SharedCounter {
  std::atomic<std::uint32_t> value;
  std::atomic<std::uint32_t> sleepers;

  /// Sets the value, and wakes whoever sleeps on it.
  void Publish(std::uint32_t next);

  /// The same, to one more; where several may do so at a time.
  void Advance();

  /// Wakes whoever sleeps on it, to look at something else (PollWait::UntilNews).
  void Wake();

  /// For a counter that may stand still while others go on to `now`: once it is 2^31 behind, it
  /// would be taken for ahead. If anybody calls this at least every 2^28 of their steps, it never
  /// falls so far behind. A counter near `now` is not changed.
  void KeepUp(std::uint32_t now);
};

/// A word that somebody watches, and its value when it was last looked at.
struct Watched {
  const std::atomic<std::uint32_t>& word;
  std::uint32_t value;

  bool Changed() const { return word.load(std::memory_order_acquire) != value; }
};

/// Something else that who waits sees to.
struct SideWork {
  static constexpr std::uint32_t kSourcesMax = 30;

  /// Returns for how many nanoseconds nothing more of it is due; 0: something was done.
  std::uint64_t (*see_to)(void* context, std::uint64_t now_ns) = nullptr;
  /// Fills in what wakes who should see to it, up to kSourcesMax; returns how many.
  std::uint32_t (*name_sources)(void* context, pollfd* sources) = nullptr;
  /// Something is under way, and nothing else that is waited for comes before it, as a rule: sleeps
  /// until it comes, and not for long. False: there is no such thing.
  bool (*sleep)(void* context) = nullptr;
  /// Who slept is awake: something may have come.
  void (*awake)(void* context) = nullptr;
  void* context = nullptr;

  bool any() const { return see_to != nullptr; }
  std::uint64_t SeeTo(std::uint64_t now_ns) const { return see_to(context, now_ns); }
  std::uint32_t NameSources(pollfd* sources) const { return name_sources(context, sources); }
  bool Sleep() const { return sleep(context); }
  void Awake() const { awake(context); }
};

class PollWait {
 public:
  /// For `waiters` processes on this node that wait for each other on `processors` processors.
  constexpr PollWait(std::uint32_t waiters, std::uint32_t processors)
      : spins_(waiters <= processors ? kSpins : 0),
        poll_ns_max_(kPollNs + kPollNsPerWaiter * waiters),
        poll_ns_(poll_ns_max_) {}

  /// From now on the turn is passed on instead, as often as it takes.
  void TakeTurns(const Turn& turn) { turn_ = turn; }

  /// If turns are taken, they begin anew, though this process has nothing to wait for.
  void BeginAnew() {
    if (__builtin_expect(turn_.taken(), 0)) turn_.BeginAnew();
  }

  /// Returns once `counter` has reached `target`.
  void Until(SharedCounter& counter, std::uint32_t target);

  /// The same, or once `news` has changed, which is followed by counter.Wake(). A change in the
  /// moment of falling asleep may be noticed only at the next one. True: it has reached `target`.
  bool UntilNews(SharedCounter& counter, std::uint32_t target, const Watched& news);

  /// The same, and sees to `side` meanwhile. Nobody takes turns.
  bool UntilNews(SharedCounter& counter, std::uint32_t target, const Watched& news,
                 const SideWork& side);

 private:
  static constexpr std::uint32_t kSpins = 16;               // Less than a yield costs.
  static constexpr std::uint64_t kPollNs = 100'000;         // A few wake-ups' worth.
  static constexpr std::uint64_t kPollNsPerWaiter = 4'000;  // A turn of all on a short machine.
  static constexpr std::uint64_t kPollNsMin = 5'000;

  template <typename Done>
  void Await(SharedCounter& counter, const Done& done);
  template <typename Done>
  static void Sleep(SharedCounter& counter, const Done& done);
  template <typename Done>
  static void SleepAtMost(SharedCounter& counter, std::uint64_t ns, const Done& done);
  void AdaptToSleep(std::uint64_t start_ns);

  std::uint32_t spins_;        ///< Looks before the first yield; 0 if processors are short.
  std::uint64_t poll_ns_max_;  ///< The bound when waits are short.
  std::uint64_t poll_ns_;      ///< The bound now.
  Turn turn_;
};

/// Returns once `word` is no longer `value`. For a word whose changes wake nobody: polls for a
/// bounded time, then looks again every 50 us.
void WaitWhile(const std::atomic<std::uint32_t>& word, std::uint32_t value);

/// The same, for two words: until one of them has changed.
void WaitWhile(const Watched& one, const Watched& other);

/// The same, and sees to `side` meanwhile.
void WaitWhile(const Watched& one, const Watched& other, const SideWork& side);

}  // namespace bspnow

#endif  // BASE_POLL_WAIT_H_
