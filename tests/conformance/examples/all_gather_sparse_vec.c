/* Source: BSPlib 1997, Move, statement 5
 * Claim: The paper's all_gather_sparse_vec gives every process all nonzero elements of a vector and
 *   their indices, in some order, and leaves the tag size as it was.
 * Mended: sparse and sparse_ivec begin as NULL, which the paper leaves undefined where there is no
 *   nonzero element.
 * Cases: sparse zero
 */
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

/* clang-format off */
int all_gather_sparse_vec(float *dense,int n_over_p,
                        float **sparse_out,
                        int **sparse_ivec_out){
  int global_idx,i,j,tag_size,
    nonzeros,nonzeros_size,status, *sparse_ivec = NULL;
  float *sparse = NULL;

  tag_size = sizeof(int);
  bsp_set_tagsize(&tag_size);

bsp_sync();

for(i=0;i<n_over_p;i++)
    if (dense[i]!=0.0) {
        global_idx = (n_over_p * bsp_pid()+i);
        for(j=0;j<bsp_nprocs();j++)
            bsp_send(j,&global_idx,&dense[i],sizeof(float));
    }
bsp_sync();

bsp_qsize(&nonzeros,&nonzeros_size);
if (nonzeros>0) {
    sparse      = calloc(nonzeros,sizeof(float));
    sparse_ivec = calloc(nonzeros,sizeof(int));
    if (sparse==NULL || sparse_ivec==NULL)
        bsp_abort("Unable to allocate memory");
    for(i=0;i<nonzeros;i++) {
        bsp_get_tag(&status,&sparse_ivec[i]);
        if (status!=sizeof(float))
            bsp_abort("Should never get here");
        bsp_move(&sparse[i],sizeof(float));
    }
}
bsp_set_tagsize(&tag_size);
*sparse_out      = sparse;
*sparse_ivec_out = sparse_ivec;
return nonzeros;
}
/* clang-format on */

enum { kChunk = 10 };

static float Element(int i, int zero) { return i % 3 == 1 && !zero ? i + 0.5f : 0.0f; }

int main(int argc, char **argv) {
  int zero = argc > 1 && strcmp(argv[1], "zero") == 0;
  int me, p, i, n, expected = 0, *indices, *seen, size = 0;
  float dense[kChunk], *values;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  p = bsp_nprocs();
  for (i = 0; i < kChunk; i++) dense[i] = Element(me * kChunk + i, zero);
  for (i = 0; i < p * kChunk; i++) expected += Element(i, zero) != 0.0f;
  n = all_gather_sparse_vec(dense, kChunk, &values, &indices);
  EXPECT_EQ(n, expected);
  seen = calloc(p * kChunk, sizeof(int));
  EXPECT(seen != NULL);
  for (i = 0; i < n; i++) {
    EXPECT(indices[i] >= 0 && indices[i] < p * kChunk);
    EXPECT_EQ(seen[indices[i]]++, 0);
    EXPECT(values[i] == Element(indices[i], zero));
  }
  bsp_set_tagsize(&size);
  EXPECT_EQ(size, 0);
  free(seen);
  free(values);
  free(indices);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
