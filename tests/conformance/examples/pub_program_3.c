/* Source: PUB 2003, section 2.4, statement 2
 * Claim: Program 3, with partition operations, as printed but for its layout.
 * Procs: 2 4 64
 */
#include <pub.h>

#include "pub/butterfly.h"

static t_bspmsg *msg;
static int i, new_m, other, mypid, nprocs;

void bin_search(pbsp bsp, int dim, int m) {
  tbsp sub;
  pbsp subbsp = &sub;
  int part[2];

  mypid = bsp_pid(bsp);
  nprocs = bsp_nprocs(bsp);
  for (i = new_m = other = 0; i < m; i++)
    if ((query[i] <= gkey[dim] && mypid >= nprocs / 2) ||
        (query[i] > gkey[dim] && mypid < nprocs / 2))
      temp[other++] = query[i];
    else
      query[new_m++] = query[i];
  bsp_hpsend(bsp, (mypid + nprocs / 2) % nprocs, temp, other * sizeof(int));
  bsp_sync(bsp);
  msg = bsp_getmsg(bsp, 0);
  memcpy(&query[new_m], bspmsg_data(msg), bspmsg_size(msg));
  new_m += bspmsg_size(msg) / sizeof(int);
  if (dim == 0)
    local_search(new_m, query, n, key);
  else {
    part[0] = nprocs / 2;
    part[1] = nprocs;
    bsp_partition(bsp, subbsp, 2, part);
    bin_search(subbsp, dim - 1, new_m);
    bsp_done(subbsp);
  }
}

int main(int argc, char **argv) {
  t_bsp all;
  PUB_BEGIN(argc, argv, all);
  bin_search(&all, MakeButterfly(bsp_nprocs(&all), bsp_pid(&all)) - 1, kQueries);
  ExpectAllLocated(&all, kQueries);
  PUB_END(all);
  return 0;
}
