// One thread's loop over descriptors, timers, pollers and what other threads post: the rim where
// things happen. Owns no descriptor; calls back on the thread that runs it.
//
// A loop that polls looks for work for some time, yielding the processor, before it blocks: a
// sleeping thread wakes in some 25 us, a yield takes under 1. The time adapts (see PollBudget).
#ifndef NET_EVENT_LOOP_H_
#define NET_EVENT_LOOP_H_

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "net/poll_budget.h"

namespace bspnow {

enum class TimerId : std::uint64_t {};
inline constexpr TimerId kNoTimer{0};

/// Something that the loop checks while it polls: a word in shared memory, a ring.
class Poller {
 public:
  /// Handles new work. True if there was any.
  virtual bool Poll() = 0;

  /// The loop is about to block: from now on whoever brings work must ring a descriptor that the
  /// loop waits for. True if work has come meanwhile, so that the loop must not block.
  virtual bool PrepareToSleep() = 0;

  /// The loop is awake again. Follows each PrepareToSleep.
  virtual void Awake() = 0;

 protected:
  ~Poller() = default;
};

class EventLoop {
 public:
  using Callback = std::function<void()>;

  EventLoop();
  ~EventLoop();

  /// Calls `ready` whenever `fd` can be read, or has ended. The descriptor must stay open until
  /// Forget. A descriptor may have both interests, each with its own callback.
  void OnReadable(int fd, Callback ready);

  /// Calls `ready` whenever `fd` can be written. False for what cannot be waited for (a file).
  bool OnWritable(int fd, Callback ready);

  /// Ends one interest; does nothing if there is none.
  void StopReading(int fd);
  void StopWriting(int fd);

  /// Ends both.
  void Forget(int fd);

  /// Calls `due` once, `after_ms` from now.
  TimerId AddTimer(std::uint64_t after_ms, Callback due);

  /// Does nothing if the timer is kNoTimer, or has been called.
  void CancelTimer(TimerId timer);

  /// Calls `work` on the loop's thread, soon. From any thread; also for work that must not happen
  /// inside the present callback (destroying the caller).
  void Post(Callback work);

  /// Polls before it blocks. Without this, and without pollers, the loop blocks at once.
  void EnablePolling() { polling_ = true; }

  /// `poller` must live until RemovePoller; it may remove itself from Poll.
  void AddPoller(Poller& poller);
  void RemovePoller(Poller& poller);

  /// Waits for something to happen and handles it.
  void RunOnce();

  /// Runs until Stop is called (on the loop's thread; else Post it).
  void Run();
  void Stop() { stopped_ = true; }

 private:
  struct Watch {
    std::shared_ptr<const Callback> readable;
    std::shared_ptr<const Callback> writable;
    std::uint32_t events = 0;  ///< The interest that epoll has.
    std::uint32_t serial = 0;
  };
  using TimerKey = std::pair<std::uint64_t, TimerId>;  // When it is due, in ns.

  bool SetInterest(int fd, Watch& watch);
  Watch& WatchOf(int fd);
  Watch* Find(std::uint64_t event_data);
  int Wait(std::span<epoll_event> events, int timeout_ms);
  void DispatchAll(std::span<const epoll_event> events);
  void Dispatch(std::uint64_t event_data, std::uint32_t events);
  void HandlePosted();
  bool HandleTimers();
  bool RunPollers();
  bool PollForWork();
  void Block();
  int MillisecondsToTimer() const;

  UniqueFd epoll_;
  UniqueFd posted_bell_;
  std::unordered_map<int, Watch> watches_;
  std::map<TimerKey, Callback> timers_;
  std::unordered_map<TimerId, std::uint64_t> timer_due_ns_;
  std::uint64_t last_timer_ = 0;
  std::uint32_t last_serial_ = 0;
  std::vector<Poller*> pollers_;  ///< nullptr: removed while they are run.
  PollBudget budget_;
  std::uint32_t poller_turns_ = 0;  ///< In which a poller found something.
  bool polling_ = false;
  bool in_pollers_ = false;
  bool stopped_ = false;

  std::mutex posted_mutex_;
  std::vector<Callback> posted_;  ///< Guarded by posted_mutex_.
};

}  // namespace bspnow

#endif  // NET_EVENT_LOOP_H_
