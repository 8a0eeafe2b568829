// The entry of bsp-restore, and the two jumps that no function call can make.

    .text

    // The kernel starts here: argc, argv, ... on the stack.
    .globl _start
    .type _start, @function
_start:
    xorl %ebp, %ebp
    movq %rsp, %rdi
    andq $-16, %rsp
    call RestoreMain
    ud2
    .size _start, . - _start

    // void ContinueOnStack(void* stack_end, void* argument, uintptr_t function)
    .globl ContinueOnStack
    .hidden ContinueOnStack
    .type ContinueOnStack, @function
ContinueOnStack:
    movq %rdi, %rsp
    xorl %ebp, %ebp
    movq %rsi, %rdi
    call *%rdx
    ud2
    .size ContinueOnStack, . - ContinueOnStack

    // void EnterProcess(const ImageRegisters*); the offsets are those of runtime/image/image_format.h.
    .globl EnterProcess
    .hidden EnterProcess
    .type EnterProcess, @function
EnterProcess:
    ldmxcsr 64(%rdi)
    fldcw 68(%rdi)
    movq 0(%rdi), %rbx
    movq 8(%rdi), %rbp
    movq 16(%rdi), %r12
    movq 24(%rdi), %r13
    movq 32(%rdi), %r14
    movq 40(%rdi), %r15
    movq 48(%rdi), %rsp
    movq 56(%rdi), %rcx
    movl $1, %eax
    jmp *%rcx
    .size EnterProcess, . - EnterProcess

    .section .note.GNU-stack, "", @progbits
