/* Source: BSPlib 1997, Put, statement 8
 * Source: BSPlib 1997, Get, statement 5
 * Claim: The unbuffered calls deliver large areas too where the kernel lets no process read or
 *   write another's memory, as in many containers.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "bsp.h"
#include "expect.h"

/* From here on process_vm_readv and process_vm_writev fail with EPERM. */
static int ForbidDirectCopies(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  struct sock_fprog program;
  program.len = sizeof(filter) / sizeof(filter[0]);
  program.filter = filter;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void) {
  unsigned char *source, *put, *got;
  int me, next, prev, nbytes, i, forbidden = ForbidDirectCopies();
  bsp_begin(bsp_nprocs());
  EXPECT(forbidden);
  me = bsp_pid();
  next = (me + 1) % bsp_nprocs();
  prev = (me + bsp_nprocs() - 1) % bsp_nprocs();
  nbytes = 2 * 1024 * 1024 / bsp_nprocs() + 1;
  source = malloc(nbytes);
  put = calloc(nbytes, 1);
  got = calloc(nbytes, 1);
  EXPECT(source != NULL && put != NULL && got != NULL);
  for (i = 0; i < nbytes; i++) source[i] = (unsigned char)(i * 7 + i / 251 + me);
  bsp_push_reg(source, nbytes);
  bsp_push_reg(put, nbytes);
  bsp_sync();
  bsp_hpput(next, source, put, 0, nbytes);
  bsp_hpget(next, source, 0, got, nbytes);
  bsp_sync();
  for (i = 0; i < nbytes; i++) {
    if (put[i] != (unsigned char)(i * 7 + i / 251 + prev)) EXPECT_EQ(i, -1);
    if (got[i] != (unsigned char)(i * 7 + i / 251 + next)) EXPECT_EQ(i, -2);
  }
  free(source);
  free(put);
  free(got);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
