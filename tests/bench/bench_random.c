/* bench_random SECONDS N: N puts, sends and gets of 8 bytes from each process to random places in
 * one superstep, from the issue of the first until all are visible; figures put, send (taken by
 * bsp_get_tag and bsp_move), hpmove (sent as well, and taken by that), get. */
#include "agree_bsp.h"
#include "random_updates.h"

static void by_put(void *context) {
  const Updates *u = context;
  for (int i = 0; i < u->n; ++i)
    bsp_put(u->to[i], &u->value[i], u->array, u->index[i] * (int)sizeof(double), sizeof(double));
  bsp_sync();
}

static void by_get(void *context) {
  const Updates *u = context;
  for (int i = 0; i < u->n; ++i)
    bsp_get(u->to[i], u->array, u->index[i] * (int)sizeof(double), &u->got[i], sizeof(double));
  bsp_sync();
}

/* Returns how many messages have come. */
static int send_all(const Updates *u) {
  for (int i = 0; i < u->n; ++i) bsp_send(u->to[i], &u->index[i], &u->value[i], sizeof(double));
  bsp_sync();
  int nmessages;
  bsp_qsize(&nmessages, NULL);
  return nmessages;
}

static void by_send(void *context) {
  const Updates *u = context;
  const int nmessages = send_all(u);
  int status, index;
  double value;
  for (int i = 0; i < nmessages; ++i) {
    bsp_get_tag(&status, &index);
    bsp_move(&value, sizeof value);
    u->array[index] = value;
  }
}

static void by_hpmove(void *context) {
  const Updates *u = context;
  const int nmessages = send_all(u);
  for (int i = 0; i < nmessages; ++i) {
    void *tag, *payload;
    bsp_hpmove(&tag, &payload);
    int index;
    double value;
    memcpy(&index, tag, sizeof index);
    memcpy(&value, payload, sizeof value);
    u->array[index] = value;
  }
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  agree_begin();
  require(argc == 3, "usage: bench_random SECONDS N");
  double budget_s = atof(argv[1]);
  Updates u = make_updates(bsp_pid(), bsp_nprocs(), atoi(argv[2]));
  int tag_nbytes = sizeof(int);
  bsp_set_tagsize(&tag_nbytes);
  bsp_push_reg(u.array, u.n * (int)sizeof(double));
  bsp_sync();
  Timing put = measure_updates(&u, by_put, check_stored, agree, budget_s);
  Timing send = measure_updates(&u, by_send, check_stored, agree, budget_s);
  Timing hpmove = measure_updates(&u, by_hpmove, check_stored, agree, budget_s);
  Timing get = measure_updates(&u, by_get, check_got, agree, budget_s);
  if (u.pid == 0) {
    report("put", put);
    report("send", send);
    report("hpmove", hpmove);
    report("get", get);
  }
  bsp_end();
  return 0;
}
