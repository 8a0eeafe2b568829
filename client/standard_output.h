// Standard output, as std::cout writes to it: all of it, be the reader slow and the pipe
// non-blocking, and with a reason where that fails.
#ifndef CLIENT_STANDARD_OUTPUT_H_
#define CLIENT_STANDARD_OUTPUT_H_

#include <absl/status/status.h>

#include <streambuf>
#include <string>

namespace bspnow::client {

/// Before anything is opened. What is printed on a closed descriptor fails, as it does in cat.
void PrepareStandardStreams();

class StandardOutput : private std::streambuf {
 public:
  /// std::cout writes here, for the lifetime of this.
  StandardOutput();
  ~StandardOutput() override;

  /// Writes what waits. Why something that was printed, now or before, could not be written.
  absl::Status Flush();

 private:
  std::streamsize xsputn(const char* text, std::streamsize bytes) override;
  int_type overflow(int_type character) override;
  int sync() override;
  bool Settle();

  std::streambuf* const before_;
  const bool is_terminal_;  ///< Somebody reads along: each line comes when it is printed.
  std::string waiting_;
  absl::Status written_;  ///< After a failure nothing more is.
};

}  // namespace bspnow::client

#endif  // CLIENT_STANDARD_OUTPUT_H_
