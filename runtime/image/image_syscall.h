// System calls without libc: the image path must neither take libc's locks nor change its state,
// which the image holds.
#ifndef RUNTIME_IMAGE_IMAGE_SYSCALL_H_
#define RUNTIME_IMAGE_IMAGE_SYSCALL_H_

#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bspnow {

template <typename T>
inline long SyscallWord([[maybe_unused]] T value) {
  if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

/// The result, or minus the number of the error.
template <typename... Arguments>
inline long RawSyscall(long number, Arguments... arguments) {
  static_assert(sizeof...(arguments) <= 6);
  const long words[7] = {SyscallWord(arguments)..., 0};
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

/// Copies what sanitizers would not let an ordinary function read: the redzones of the program.
inline void CopyRaw(void* to, const void* from, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

}  // namespace bspnow

#endif  // RUNTIME_IMAGE_IMAGE_SYSCALL_H_
