// Standard input of pid 0: what the coordinator sends goes into a pipe, as fast as the program
// reads; what comes again from a restarted coordinator is dropped. Lives on the loop's thread.
#ifndef WORKER_JOB_INPUT_PIPE_H_
#define WORKER_JOB_INPUT_PIPE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "net/event_loop.h"

namespace bspnow::worker {

class InputPipe {
 public:
  /// `taken` is called whenever everything written so far, these bytes in all, is in the pipe, or
  /// lost because nobody reads any more.
  InputPipe(EventLoop& loop, std::function<void(std::uint64_t bytes)> taken);
  ~InputPipe();
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;

  /// For the process; invalid if there are no descriptors left.
  UniqueFd TakeReadEnd() { return std::move(read_end_); }

  /// `offset` is that of the first of these bytes in all input. False if some before it have not
  /// come; nothing is written then.
  [[nodiscard]] bool Write(std::uint64_t offset, const std::string& bytes);

  /// No more input comes: the program sees the end after what is written.
  void Close();

 private:
  void Flush();

  EventLoop& loop_;
  std::function<void(std::uint64_t bytes)> taken_;
  UniqueFd read_end_;
  UniqueFd write_end_;
  std::string pending_;
  std::uint64_t received_bytes_ = 0;  ///< Pending ones included.
  bool owes_answer_ = false;          ///< To the last Write.
  bool waiting_ = false;              ///< For the pipe to be writable.
  bool closing_ = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_JOB_INPUT_PIPE_H_
