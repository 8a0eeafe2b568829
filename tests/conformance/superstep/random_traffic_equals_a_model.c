/* Source: semantics, order, statement 1
 * Source: semantics, order, statement 2
 * Source: semantics, order, statement 3
 * Source: BSPlib 1997, Get, statement 4
 * Claim: The outcome of any mix of overlapping puts and gets is that of: read the sources of puts
 *   at the call; read all gets; write the gets; write the puts; by pid of the source (the process
 *   that the bytes come from) and by issue.
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

enum { kBytes = 300, kCalls = 40, kSupersteps = 4 };

typedef struct {
  int is_put, peer, here, there, nbytes;
  unsigned char data[kBytes]; /* What a put or a get has read. */
} Call;

static unsigned Random(unsigned *state) {
  *state = *state * 1103515245u + 12345u;
  return *state >> 16;
}

static Call Choose(unsigned *state, int p) {
  Call call;
  call.is_put = Random(state) % 2;
  call.peer = Random(state) % p;
  call.nbytes = Random(state) % 40;
  call.here = Random(state) % (kBytes - call.nbytes);
  call.there = Random(state) % (kBytes - call.nbytes);
  return call;
}

/* What process `pid` does to its own memory before a call: the puts must not all read the same. */
static void Compute(unsigned char *memory, unsigned *state) {
  memory[Random(state) % kBytes] = (unsigned char)Random(state);
}

/* One superstep of all p processes, done sequentially in `memory`, kBytes for each process. */
static void Model(unsigned char *memory, Call *calls, unsigned seed, int p) {
  int pid, i;
  Call *call;
  for (pid = 0; pid < p; pid++) {
    unsigned state = seed + pid;
    for (i = 0; i < kCalls; i++) {
      call = &calls[pid * kCalls + i];
      Compute(memory + pid * kBytes, &state);
      *call = Choose(&state, p);
      if (call->is_put) memcpy(call->data, memory + pid * kBytes + call->here, call->nbytes);
    }
  }
  for (i = 0; i < p * kCalls; i++) {
    call = &calls[i];
    if (!call->is_put) memcpy(call->data, memory + call->peer * kBytes + call->there, call->nbytes);
  }
  for (pid = 0; pid < p; pid++)
    for (i = 0; i < p * kCalls; i++) {
      call = &calls[i];
      if (!call->is_put && call->peer == pid)
        memcpy(memory + i / kCalls * kBytes + call->here, call->data, call->nbytes);
    }
  for (i = 0; i < p * kCalls; i++) {
    call = &calls[i];
    if (call->is_put) memcpy(memory + call->peer * kBytes + call->there, call->data, call->nbytes);
  }
}

int main(void) {
  unsigned char mine[kBytes], *model;
  int me, p, superstep, i;
  Call *calls;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  model = calloc(p, kBytes);
  calls = calloc(p * kCalls, sizeof(Call));
  EXPECT(model != NULL && calls != NULL);
  memset(mine, 0, sizeof(mine));
  bsp_push_reg(mine, sizeof(mine));
  bsp_sync();
  for (superstep = 0; superstep < kSupersteps; superstep++) {
    unsigned seed = 7919u * (superstep + 1), state = seed + me;
    for (i = 0; i < kCalls; i++) {
      Call call;
      Compute(mine, &state);
      call = Choose(&state, p);
      if (call.is_put)
        bsp_put(call.peer, mine + call.here, mine, call.there, call.nbytes);
      else
        bsp_get(call.peer, mine, call.there, mine + call.here, call.nbytes);
    }
    bsp_sync();
    Model(model, calls, seed, p);
    for (i = 0; i < kBytes; i++) EXPECT_EQ(mine[i], model[me * kBytes + i]);
  }
  free(model);
  free(calls);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
