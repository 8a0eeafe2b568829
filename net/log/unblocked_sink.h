// Where a daemon's log lines go: standard error, as far as somebody takes them. Whoever logs does
// not wait for a pipe that nobody reads, or a journal that is stuck: leases would pass meanwhile.
// Lines that are not taken are lost, and counted.
#ifndef NET_LOG_UNBLOCKED_SINK_H_
#define NET_LOG_UNBLOCKED_SINK_H_

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <mutex>

namespace bspnow {

class UnblockedSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// `fd` stays the caller's.
  explicit UnblockedSink(int fd) : fd_(fd) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

 private:
  bool CanTake() const;
  bool Write(const spdlog::details::log_msg& message);

  const int fd_;
  std::uint64_t lost_ = 0;  ///< Lines, since one was written.
  bool cut_ = false;        ///< The last one has no end.
};

}  // namespace bspnow

#endif  // NET_LOG_UNBLOCKED_SINK_H_
