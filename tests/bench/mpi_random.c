/* mpi_random SECONDS N: the updates of bench_random combined by hand, as an MPI programmer would
 * have to: bucketed by destination, counts by MPI_Alltoall, one MPI_Alltoallv, applied. A get is
 * a request and a reply. Figures put (what a put or a send of bench_random achieves) and get. */
#include "agree_mpi.h"
#include "random_updates.h"

enum { kProcessesMax = 64 };

/* 12 bytes on the way, not 16. */
typedef struct __attribute__((packed)) {
  int index;
  double value;
} Update;

static Update *updates_out, *updates_in;
static int *requests_out, *requests_in, *request_number;
static double *replies_out, *replies_in;
static MPI_Datatype update_type;

typedef struct {
  int count[kProcessesMax], start[kProcessesMax];
} Buckets;

static int place(Buckets *b, int nprocs) {
  int total = 0;
  for (int q = 0; q < nprocs; ++q) {
    b->start[q] = total;
    total += b->count[q];
  }
  return total;
}

/* How much goes to each process, and how much comes from each. */
static int count_buckets(const Updates *u, Buckets *out, Buckets *in) {
  memset(out->count, 0, sizeof out->count);
  for (int i = 0; i < u->n; ++i) ++out->count[u->to[i]];
  place(out, u->nprocs);
  MPI_Alltoall(out->count, 1, MPI_INT, in->count, 1, MPI_INT, MPI_COMM_WORLD);
  int arriving = place(in, u->nprocs);
  require(arriving <= 2 * u->n, "more updates for one process than there is room for");
  return arriving;
}

static void by_put(void *context) {
  const Updates *u = context;
  Buckets out, in;
  int next[kProcessesMax];
  int arriving = count_buckets(u, &out, &in);
  memcpy(next, out.start, sizeof next);
  for (int i = 0; i < u->n; ++i) {
    Update *slot = &updates_out[next[u->to[i]]++];
    slot->index = u->index[i];
    slot->value = u->value[i];
  }
  MPI_Alltoallv(updates_out, out.count, out.start, update_type, updates_in, in.count, in.start,
                update_type, MPI_COMM_WORLD);
  for (int i = 0; i < arriving; ++i) u->array[updates_in[i].index] = updates_in[i].value;
}

static void by_get(void *context) {
  const Updates *u = context;
  Buckets out, in;
  int next[kProcessesMax];
  int arriving = count_buckets(u, &out, &in);
  memcpy(next, out.start, sizeof next);
  for (int i = 0; i < u->n; ++i) {
    int slot = next[u->to[i]]++;
    requests_out[slot] = u->index[i];
    request_number[slot] = i;
  }
  MPI_Alltoallv(requests_out, out.count, out.start, MPI_INT, requests_in, in.count, in.start,
                MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < arriving; ++i) replies_out[i] = u->array[requests_in[i]];
  MPI_Alltoallv(replies_out, in.count, in.start, MPI_DOUBLE, replies_in, out.count, out.start,
                MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < u->n; ++i) u->got[request_number[i]] = replies_in[i];
}

static void make_buffers(int n) {
  updates_out = allocate((size_t)n * sizeof(Update));
  updates_in = allocate(2 * (size_t)n * sizeof(Update));
  requests_out = allocate((size_t)n * sizeof(int));
  requests_in = allocate(2 * (size_t)n * sizeof(int));
  request_number = allocate((size_t)n * sizeof(int));
  replies_out = allocate(2 * (size_t)n * sizeof(double));
  replies_in = allocate((size_t)n * sizeof(double));
  MPI_Type_contiguous(sizeof(Update), MPI_BYTE, &update_type);
  MPI_Type_commit(&update_type);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  require(argc == 3, "usage: mpi_random SECONDS N");
  require(mpi_nprocs() <= kProcessesMax, "too many processes");
  double budget_s = atof(argv[1]);
  Updates u = make_updates(mpi_pid(), mpi_nprocs(), atoi(argv[2]));
  make_buffers(u.n);
  Timing put = measure_updates(&u, by_put, check_stored, agree, budget_s);
  Timing get = measure_updates(&u, by_get, check_got, agree, budget_s);
  if (u.pid == 0) {
    report("put", put);
    report("get", get);
  }
  MPI_Type_free(&update_type);
  MPI_Finalize();
  return 0;
}
