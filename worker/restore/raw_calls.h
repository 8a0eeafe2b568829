// System calls without a library: bsp-restore has none, since the memory that a libc would live in
// is what it replaces. They return what the kernel returns: a result, or -errno.
#ifndef WORKER_RESTORE_RAW_CALLS_H_
#define WORKER_RESTORE_RAW_CALLS_H_

#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace bspnow::restore {

inline long RawCall6(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <class T>
long AsWord(T value) {
  return static_cast<long>(value);
}
template <class T>
long AsWord(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

/// Call(SYS_name, arguments...): integers or pointers.
template <class... Arguments>
long Call(long number, Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= 6);
  const long words[6] = {AsWord(arguments)...};
  return RawCall6(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

/// Results of calls that return addresses: the last page stands for errors.
inline bool IsError(long result) { return result < 0 && result >= -4095; }

}  // namespace bspnow::restore

#endif  // WORKER_RESTORE_RAW_CALLS_H_
