/* Source: BSPedupack, programs, statement 1
 * Claim: A product of a sparse matrix and a vector in the old form of BSPedupack: process 0 deals
 *   the nonzeros out by bsp_send, a directory by bsp_put and bsp_get finds who has which component,
 *   components come by bsp_get, sums go by bsp_send with the index as the tag.
 * Stdin: {p}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/old_form.h"

#define ORDER 80 /* At least p. */

int is_nonzero(int i, int j) { return i == j || (i * 7 + j * 11) % 9 == 0; }
double value(int i, int j) { return i + 0.25 * j; }
int owner(int i, int j, int p) { return (i * 3 + j * 5) % p; }
int owner_of_component(int i, int p) { return (i * 5 + 2) % p; }

/* The nonzeros of this process: rows, columns, values; their number. */
int deal_out(int p, int s, int *ia, int *ja, double *a) {
  int i, j, k, nz, nbytes, status, tag[2], tagsz = 2 * SZINT;
  double x;
  bsp_set_tagsize(&tagsz);
  if (tagsz != 0) bsp_abort("the first size of tags is %d", tagsz);
  bsp_sync();
  for (i = 0; s == 0 && i < ORDER; i++) {
    for (j = 0; j < ORDER; j++) {
      if (!is_nonzero(i, j)) continue;
      tag[0] = i, tag[1] = j, x = value(i, j);
      bsp_send(owner(i, j, p), tag, &x, SZDBL);
    }
  }
  bsp_sync();
  bsp_qsize(&nz, &nbytes);
  if (nbytes != nz * (int)SZDBL) bsp_abort("%d nonzeros have %d bytes", nz, nbytes);
  for (k = 0; k < nz; k++) {
    bsp_get_tag(&status, tag);
    ia[k] = tag[0], ja[k] = tag[1];
    bsp_move(&a[k], SZDBL);
  }
  tagsz = SZINT;
  bsp_set_tagsize(&tagsz);
  if (tagsz != 2 * (int)SZINT) bsp_abort("the size of tags was %d", tagsz);
  bsp_sync();
  return nz;
}

/* For each component: who has it, and where there. The directory is cyclic. */
void find_components(int p, int s, int *proc, int *ind) {
  int n = nloc(p, s, ORDER), i, mine = 0;
  int *dirproc = vecalloci(n), *dirind = vecalloci(n);
  bsp_push_reg(dirproc, n * SZINT);
  bsp_push_reg(dirind, n * SZINT);
  bsp_sync();
  for (i = 0; i < ORDER; i++) {
    if (owner_of_component(i, p) != s) continue;
    bsp_put(i % p, &s, dirproc, i / p * SZINT, SZINT);
    bsp_put(i % p, &mine, dirind, i / p * SZINT, SZINT);
    mine++;
  }
  bsp_sync();
  for (i = 0; i < ORDER; i++) {
    bsp_get(i % p, dirproc, i / p * SZINT, &proc[i], SZINT);
    bsp_get(i % p, dirind, i / p * SZINT, &ind[i], SZINT);
  }
  bsp_sync();
  bsp_pop_reg(dirind);
  bsp_pop_reg(dirproc);
  bsp_sync();
  vecfreei(dirind);
  vecfreei(dirproc);
}

void bspmv(int nz, int *ia, int *ja, double *a, int *proc, int *ind, double *v, int nv, double *u) {
  double vloc[ORDER], sum;
  int i, j, k, nsums, nbytes, status;
  for (j = 0; j < ORDER; j++) {
    for (k = 0; k < nz && ja[k] != j; k++) continue;
    if (k < nz) bsp_get(proc[j], v, ind[j] * SZDBL, &vloc[j], SZDBL);
  }
  bsp_sync();
  for (i = 0; i < ORDER; i++) {
    int any = 0;
    for (sum = 0.0, k = 0; k < nz; k++) {
      if (ia[k] == i) sum += a[k] * vloc[ja[k]], any = 1;
    }
    if (any) bsp_send(proc[i], &ind[i], &sum, SZDBL);
  }
  bsp_sync();
  for (i = 0; i < nv; i++) u[i] = 0.0;
  bsp_qsize(&nsums, &nbytes);
  bsp_get_tag(&status, &i);
  for (k = 0; k < nsums; k++) {
    bsp_move(&sum, SZDBL);
    u[i] += sum;
    bsp_get_tag(&status, &i);
  }
  if (status != -1) bsp_abort("bspmv: a sum is left");
}

void bspmv_test(void) {
  static int ia[ORDER * ORDER], ja[ORDER * ORDER], proc[ORDER], ind[ORDER];
  static double a[ORDER * ORDER];
  int p, s, i, j, nz, nv = 0;
  double *v, *u;
  bsp_begin(P);
  p = bsp_nprocs();
  s = bsp_pid();
  nz = deal_out(p, s, ia, ja, a);
  find_components(p, s, proc, ind);
  for (i = 0; i < ORDER; i++) nv += proc[i] == s;
  v = vecallocd(nv);
  u = vecallocd(nv);
  for (i = 0; i < ORDER; i++) {
    if (proc[i] == s) v[ind[i]] = i + 1.0;
  }
  bsp_push_reg(v, nv * SZDBL);
  bsp_sync();
  bspmv(nz, ia, ja, a, proc, ind, v, nv, u);
  for (i = 0; i < ORDER; i++) {
    double sum = 0.0;
    for (j = 0; j < ORDER; j++) sum += is_nonzero(i, j) ? value(i, j) * (j + 1.0) : 0.0;
    if (proc[i] == s && fabs(u[ind[i]] - sum) > 1e-9) bsp_abort("component %d is wrong", i);
  }
  bsp_pop_reg(v);
  bsp_sync();
  if (s == 0) printf("ok\n");
  vecfreed(u);
  vecfreed(v);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspmv_test, argc, argv);
  read_number_of_processes();
  bspmv_test();
  exit(0);
}
