#include "runtime/image/file/image_snapshot.h"

#include <sys/syscall.h>

#include <cstddef>

namespace bspnow::runtime {

static_assert(offsetof(ImageRegisters, rbx) == 0 && offsetof(ImageRegisters, r15) == 40 &&
              offsetof(ImageRegisters, rsp) == 48 && offsetof(ImageRegisters, rip) == 56 &&
              offsetof(ImageRegisters, mxcsr) == 64 && offsetof(ImageRegisters, x87_control) == 68);
static_assert(SYS_clone == 56);

// The registers that a call preserves, as they are after this call. rdi: registers, rsi: stack_top,
// rdx: write, rcx: argument.
#define BSPNOW_NOTE_REGISTERS \
  "mov %rbx, 0(%rdi)\n"       \
  "mov %rbp, 8(%rdi)\n"       \
  "mov %r12, 16(%rdi)\n"      \
  "mov %r13, 24(%rdi)\n"      \
  "mov %r14, 32(%rdi)\n"      \
  "mov %r15, 40(%rdi)\n"      \
  "lea 8(%rsp), %rax\n"       \
  "mov %rax, 48(%rdi)\n"      \
  "mov (%rsp), %rax\n"        \
  "mov %rax, 56(%rdi)\n"      \
  "movq $0, 64(%rdi)\n"       \
  "stmxcsr 64(%rdi)\n"        \
  "fnstcw 68(%rdi)\n"

__attribute__((naked)) void CallOnStack(std::byte*, void (*)(void*), void*) {
  asm volatile(
      "push %rbp\n"
      "mov %rsp, %rbp\n"
      "mov %rdi, %rsp\n"
      "mov %rdx, %rdi\n"
      "call *%rsi\n"
      "mov %rbp, %rsp\n"
      "pop %rbp\n"
      "ret\n");
}

__attribute__((naked)) long SnapshotInChild(ImageRegisters*, std::byte*, void (*)(void*), void*) {
  asm volatile(BSPNOW_NOTE_REGISTERS
               "sub $16, %rsi\n"  // The child finds there what to do.
               "mov %rdx, (%rsi)\n"
               "mov %rcx, 8(%rsi)\n"
               "xor %edi, %edi\n"
               "xor %edx, %edx\n"
               "xor %r10d, %r10d\n"
               "xor %r8d, %r8d\n"
               "mov $56, %eax\n"
               "syscall\n"
               "test %rax, %rax\n"
               "jz 1f\n"
               "ret\n"
               "1: pop %rax\n"
               "pop %rdi\n"
               "xor %ebp, %ebp\n"
               "call *%rax\n"
               "ud2\n");
}

__attribute__((naked)) long SnapshotInPlace(ImageRegisters*, std::byte*, void (*)(void*), void*) {
  asm volatile(BSPNOW_NOTE_REGISTERS
               "push %rbp\n"
               "mov %rsp, %rbp\n"
               "mov %rsi, %rsp\n"
               "mov %rcx, %rdi\n"
               "call *%rdx\n"
               "mov %rbp, %rsp\n"
               "pop %rbp\n"
               "xor %eax, %eax\n"
               "ret\n");
}

}  // namespace bspnow::runtime
