/* Source: PUB 2003, section 2.2, statement 1
 * Source: PUB 2003, section 2.2, statement 2
 * Claim: Program 1, parallel binary search, as printed but for its layout.
 * Procs: 2 4 64
 */
#include <pub.h>

#include "pub/butterfly.h"

static pbsp bsp;
static t_bspmsg *msg;
static int i, new_m, mypid;

void bin_search(int dim, int m) {
  for (i = new_m = 0; i < m; i++)
    if ((query[i] <= gkey[dim] && inRightHalf(dim, mypid)) ||
        (query[i] > gkey[dim] && inLeftHalf(dim, mypid)))
      bsp_send(bsp, Opposite(dim, mypid), &query[i], sizeof(int));
    else
      query[new_m++] = query[i];
  bsp_sync(bsp);
  for (i = 0; i < bsp_nmsgs(bsp); i++) {
    msg = bsp_getmsg(bsp, i);
    query[new_m++] = *(int *)bspmsg_data(msg);
  }
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
