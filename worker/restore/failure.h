// The end of bsp-restore when something cannot be put back: one line on standard error.
#ifndef WORKER_RESTORE_FAILURE_H_
#define WORKER_RESTORE_FAILURE_H_

#include <cstddef>
#include <cstdint>

namespace bspnow::restore {

inline constexpr int kExitStatus = 125;  // kRestoreFailed of restore_command.h.

struct Hex {
  std::uint64_t value;
};

/// 32 hexadecimal digits.
struct Hash {
  std::uint64_t high;
  std::uint64_t low;
};

struct Error {
  long result;  ///< Of a system call: -errno.
};

/// A line of text in a fixed buffer; what does not fit is cut off.
class Line {
 public:
  Line& operator<<(const char* text);
  Line& operator<<(std::uint64_t number);
  Line& operator<<(Hex number);
  Line& operator<<(Hash hash);
  Line& operator<<(Error error);

  /// Writes it to standard error and ends the process.
  [[noreturn]] void Fail();

  const char* text() { return (text_[length_] = '\0', text_); }

 private:
  void Append(char c) {
    if (length_ + 2 < sizeof text_) text_[length_++] = c;
  }
  void AppendDigits(std::uint64_t number, unsigned base);

  char text_[1024];
  std::size_t length_ = 0;
};

/// Fail("mapping ", Hex{address}, ": ", Error{result}).
template <class... Parts>
[[noreturn]] void Fail(Parts... parts) {
  Line line;
  line << "bsp-restore: ";
  (line << ... << parts);
  line.Fail();
}

}  // namespace bspnow::restore

#endif  // WORKER_RESTORE_FAILURE_H_
