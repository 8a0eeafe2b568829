// System calls without libc, for code that runs where libc is not: libbsp's imaging code must
// neither take libc's locks nor change its state, which the image holds, and bsp-restore replaces
// the memory that a libc would live in.
#ifndef BASE_FREESTANDING_RAW_CALL_H_
#define BASE_FREESTANDING_RAW_CALL_H_

#include <fcntl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bspnow {

template <typename T>
inline long AsCallWord([[maybe_unused]] T value) {
  if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

/// RawCall(SYS_name, arguments...): integers or pointers. The result, or minus the number of the
/// error.
template <typename... Arguments>
inline long RawCall(long number, Arguments... arguments) {
  static_assert(sizeof...(arguments) <= 6);
  const long words[7] = {AsCallWord(arguments)..., 0};
  register long fourth asm("r10") = words[3];
  register long fifth asm("r8") = words[4];
  register long sixth asm("r9") = words[5];
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth), "r"(fifth),
                 "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

/// Of calls that return addresses: the last page stands for errors.
inline bool IsError(long result) { return result < 0 && result >= -4095; }

/// Copies what sanitizers would not let an ordinary function read: the redzones of the program.
inline void CopyRaw(void* to, const void* from, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

/// A file that is open to be read.
class RawFile {
 public:
  /// `directory` as openat takes it.
  RawFile(int directory, const char* path)
      : file_(RawCall(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC)) {}
  explicit RawFile(const char* path) : RawFile(AT_FDCWD, path) {}
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() {
    if (is_open()) RawCall(SYS_close, file_);
  }

  bool is_open() const { return file_ >= 0; }
  long number() const { return file_; }

 private:
  long file_;
};

}  // namespace bspnow

#endif  // BASE_FREESTANDING_RAW_CALL_H_
