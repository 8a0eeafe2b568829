// Mappings of all kinds, code made at run time, deep recursion with barriers at its bottom.
#define _GNU_SOURCE
#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, STEPS = 4 };

static char *map(size_t bytes, int protection, int flags) {
  return mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static int make_code(unsigned char *code, int number) {
  mprotect(code, PAGE, PROT_READ | PROT_WRITE);
  code[0] = 0xb8;  // mov $number, %eax; ret
  memcpy(code + 1, &number, 4);
  code[5] = 0xc3;
  mprotect(code, PAGE, PROT_READ | PROT_EXEC);
  return 0;
}

static long deep(int depth) {
  volatile char frame[200];
  frame[0] = (char)depth;
  if (depth == 0) {
    bsp_sync();
    return 1;
  }
  return deep(depth - 1) + frame[0];
}

int main(void) {
  bsp_begin(bsp_nprocs());
  char *reserved = map((size_t)1 << 40, PROT_NONE, MAP_NORESERVE);
  char *middle = reserved + ((size_t)1 << 39);
  mprotect(middle, 10 * PAGE, PROT_READ | PROT_WRITE);
  strcpy(middle + PAGE, "in the middle");
  char *huge = map((size_t)8 << 20, PROT_READ | PROT_WRITE, 0);
  madvise(huge, (size_t)8 << 20, MADV_HUGEPAGE);
  char *guarded = map(3 * PAGE, PROT_READ | PROT_WRITE, 0);
  strcpy(guarded + PAGE, "between guards");
  mprotect(guarded, PAGE, PROT_NONE);
  mprotect(guarded + 2 * PAGE, PAGE, PROT_NONE);
  char *constant = map(PAGE, PROT_READ | PROT_WRITE, 0);
  strcpy(constant, "read only");
  mprotect(constant, PAGE, PROT_READ);
  char *hidden = map(PAGE, PROT_READ | PROT_WRITE, 0);
  strcpy(hidden, "hidden for a while");
  mprotect(hidden, PAGE, PROT_NONE);
  unsigned char *code = (unsigned char *)map(PAGE, PROT_READ | PROT_WRITE, 0);
  char *growing = map(PAGE, PROT_READ | PROT_WRITE, 0);
  char *thrice = map(64 * PAGE, PROT_READ | PROT_WRITE, 0);
  for (int step = 0; step < STEPS; ++step) {
    make_code(code, 1000 + step);
    memset(huge + (step << 21), step + 1, 1 << 21);
    growing =
        mremap(growing, (size_t)(1 << step) * PAGE, (size_t)(2 << step) * PAGE, MREMAP_MAYMOVE);
    growing[(2 << step) * PAGE - 1] = (char)(step + 1);
    // Written, thrown away, written elsewhere: what an older image holds is gone.
    memset(thrice, step + 1, 32 * PAGE);
    bsp_sync();
    madvise(thrice, 16 * PAGE, MADV_DONTNEED);
    if (step % 2)
      mmap(thrice + 16 * PAGE, 8 * PAGE, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    const long sum = deep(2000 * (step + 1));
    int made;
    memcpy(&made, code + 1, 4);
    unsigned long pages = 0, bytes = 0;
    for (size_t i = 0; i < 64 * PAGE; i += PAGE) pages = pages * 3 + (unsigned long)thrice[i];
    for (size_t i = 0; i < (size_t)8 << 20; i += 4096) bytes += (unsigned long)huge[i];
    mprotect(hidden, PAGE, PROT_READ);
    printf("%d: %s, %s, %s, %s, code %d %d, deep %ld, pages %lu, huge %lu, end %d\n", step,
           middle + PAGE, guarded + PAGE, constant, hidden, made,
           ((int (*)(void))(uintptr_t)code)(), sum, pages, bytes, growing[(2 << step) * PAGE - 1]);
    mprotect(hidden, PAGE, PROT_NONE);
  }
  const long sum = deep(20000);  // About 5 MB of stack, most of it never used before.
  printf("deepest %ld\n", sum);
  munmap(reserved, (size_t)1 << 40);
  bsp_end();
  return 0;
}
