/* Source: PUB 2003, section 2.3, statement 1
 * Claim: Program 2, with bulk transfers, as printed but for its layout.
 * Procs: 2 4 64
 */
#include <pub.h>

#include "pub/butterfly.h"

static pbsp bsp;
static t_bspmsg *msg;
static int i, new_m, other, mypid;

void bin_search(int dim, int m) {
  for (i = new_m = other = 0; i < m; i++)
    if ((query[i] <= gkey[dim] && inRightHalf(dim, mypid)) ||
        (query[i] > gkey[dim] && inLeftHalf(dim, mypid)))
      temp[other++] = query[i];
    else
      query[new_m++] = query[i];

  bsp_hpsend(bsp, Opposite(dim, mypid), temp, other * sizeof(int));
  bsp_sync(bsp);
  msg = bsp_getmsg(bsp, 0);
  memcpy(&query[new_m], bspmsg_data(msg), bspmsg_size(msg));
  new_m += bspmsg_size(msg) / sizeof(int);
  if (dim == 0)
    local_search(new_m, query, n, key);
  else
    bin_search(dim - 1, new_m);
}

int main(int argc, char **argv) {
  t_bsp all;
  PUB_BEGIN(argc, argv, all);
  bsp = &all;
  mypid = bsp_pid(bsp);
  bin_search(MakeButterfly(bsp_nprocs(bsp), mypid) - 1, kQueries);
  ExpectAllLocated(bsp, kQueries);
  PUB_END(all);
  return 0;
}
