// BSP_CHECK: a bug of ours stops the program, in release builds too. Bad input is never a bug.
#ifndef BASE_CHECK_H_
#define BASE_CHECK_H_

namespace bspnow {

/// Prints where and what on standard error and aborts. `left` and `right` are the operands.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression, long long left,
                              long long right);

/// The system gave no memory for `bytes` bytes: prints that and ends the process with
/// kAbortStatus, as errors of BSPlib do.
[[noreturn]] void OutOfMemory(unsigned long long bytes);

}  // namespace bspnow

#define BSP_CHECK(condition)                         \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::bspnow::CheckFailed(__FILE__, __LINE__, #condition, 0, 0))

/// As BSP_CHECK(left OP right), and prints both integers.
#define BSP_CHECK_OP(left, op, right)                                        \
  (__builtin_expect((left)op(right), 1)                                      \
       ? static_cast<void>(0)                                                \
       : ::bspnow::CheckFailed(__FILE__, __LINE__, #left " " #op " " #right, \
                               static_cast<long long>(left), static_cast<long long>(right)))

#endif  // BASE_CHECK_H_
