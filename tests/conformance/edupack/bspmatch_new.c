/* Source: BSPedupack, programs, statement 2
 * Claim: A matching of a graph in the new form of BSPedupack: proposals and refusals by bsp_send,
 *   whose tags say which they are, until no process has proposed; flags by bsp_put to all.
 * Stdin: {p}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/new_form.h"

#define VERTICES 150

typedef enum { propose, unavailable } kind;

/* A number of its own for each edge; -1: there is none. */
long weight(long u, long v) {
  long low = u < v ? u : v, high = u < v ? v : u;
  if (u == v || (high - low != 1 && (low + 3 * high) % 29 != 0)) return -1;
  return (low * 61 + high * 17) % 1009 * VERTICES * VERTICES + low * VERTICES + high;
}

/* Of each vertex: its mate, or -1; whether it cannot be matched any more. */
static long mate[VERTICES];
static bool taken[VERTICES];

/* The free neighbour with the heaviest edge; -1: there is none. */
long preference(long v) {
  long best = -1;
  for (long u = 0; u < VERTICES; u++) {
    if (!taken[u] && weight(v, u) >= 0 && (best < 0 || weight(v, u) > weight(v, best))) best = u;
  }
  return best;
}

void send_about(kind what, long u, long v) {
  long tag = what, edge[2] = {u, v};
  bsp_send(v % bsp_nprocs(), &tag, edge, sizeof edge);
}

/* Each vertex of this process asks the neighbour that it prefers; their number. */
long make_proposals(long *preferred) {
  long p = bsp_nprocs(), proposals = 0;
  for (long v = bsp_pid(); v < VERTICES; v += p) {
    preferred[v] = taken[v] ? -1 : preference(v);
    if (preferred[v] < 0) continue;
    send_about(propose, v, preferred[v]);
    proposals++;
  }
  return proposals;
}

/* Who is asked by the one that it has asked itself is its mate, and tells its neighbours. */
void receive(const long *preferred) {
  bsp_nprocs_t nmessages;
  bsp_size_t nbytes, status;
  bsp_qsize(&nmessages, &nbytes);
  for (bsp_nprocs_t i = 0; i < nmessages; i++) {
    long tag, edge[2];
    bsp_get_tag(&status, &tag);
    if (status != sizeof edge) bsp_abort("a message has %zu bytes\n", status);
    bsp_move(edge, sizeof edge);
    long from = edge[0], v = edge[1];
    if (tag == unavailable) {
      taken[from] = true;
    } else if (preferred[v] == from) {
      mate[v] = from;
      taken[v] = taken[from] = true;
      for (long u = 0; u < VERTICES; u++) {
        if (weight(v, u) >= 0) send_about(unavailable, v, u);
      }
    }
  }
}

void bspmatch(void) {
  long p = bsp_nprocs(), s = bsp_pid(), preferred[VERTICES], *open = vecalloci(p);
  size_t tag_size = sizeof(long);
  bsp_set_tagsize(&tag_size);
  bsp_push_reg(open, p * sizeof(long));
  bsp_sync();
  for (bool done = false; !done;) {
    long proposals = make_proposals(preferred);
    for (long t = 0; t < p; t++) bsp_put(t, &proposals, open, s * sizeof(long), sizeof(long));
    bsp_sync();
    done = true;
    for (long t = 0; t < p; t++) done = done && open[t] == 0;
    receive(preferred);
    bsp_sync();
    receive(preferred);
  }
  bsp_pop_reg(open);
  vecfreei(open);
  bsp_set_tagsize(&tag_size);
  if (tag_size != sizeof(long)) bsp_abort("the size of tags was %zu\n", tag_size);
}

/* The heaviest edge of all, then the heaviest that is left: the same, since no two are alike. */
void check(void) {
  bool used[VERTICES] = {false};
  for (;;) {
    long best = -1, bu = 0, bv = 0;
    for (long u = 0; u < VERTICES; u++) {
      for (long v = u + 1; v < VERTICES; v++) {
        if (!used[u] && !used[v] && weight(u, v) > best) best = weight(bu = u, bv = v);
      }
    }
    if (best < 0) break;
    used[bu] = used[bv] = true;
    if (bu % bsp_nprocs() == bsp_pid() && mate[bu] != bv) bsp_abort("%ld has no mate\n", bu);
    if (bv % bsp_nprocs() == bsp_pid() && mate[bv] != bu) bsp_abort("%ld has no mate\n", bv);
  }
  for (long v = bsp_pid(); v < VERTICES; v += bsp_nprocs()) {
    if (!used[v] && mate[v] >= 0) bsp_abort("%ld has a mate\n", v);
  }
}

void bspmatch_test(void) {
  bsp_begin(P);
  for (long v = 0; v < VERTICES; v++) mate[v] = -1;
  bspmatch();
  check();
  bsp_sync();
  if (bsp_pid() == 0) printf("ok\n");
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspmatch_test, argc, argv);
  read_number_of_processes();
  bspmatch_test();
  exit(EXIT_SUCCESS);
}
