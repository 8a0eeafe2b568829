/* bsp_level1.h: collective communication for BSPlib programs, with the names and arguments of the
 * Oxford BSP toolset's level-1 library, and those of BSPlib 1997, appendix A. Usable from C89 to
 * C23 and from C++; sizes are int in either dialect of bsp.h.
 *
 * All processes make each of these calls, with the same root, size and operation, in the same
 * order. Nothing need be registered: "all collective communications will have an implicit
 * registration, within the routine" (BSPlib 1997, appendix A). Sizes are in bytes.
 *
 * A call ends the superstep in which it is made, as bsp_sync does, and takes one or more
 * supersteps. So puts and gets issued before it have taken effect when it returns, pushes and pops
 * are valid, and messages are gone: those that were not read, and those sent before it since the
 * last bsp_sync. What it moves is in place when it returns. It moves, or combines, what `src` holds
 * once those puts and gets have taken effect, as bsp_sync before it would have it; if there were
 * any, a call that would take no superstep for that takes one, l, more.
 *
 * How it moves is chosen when it is called, from p, the size, and the machine's g, l and n1/2
 * (Bonorden et al. 2003, "PUB", section 4.3, names the algorithms): that with the least cost in
 * the model, n bytes to m processes counting as m * (n + n1/2) bytes. The costs beside the calls
 * are those of the choices, n standing for nbytes + n1/2; to n above 128 KiB add one l for the
 * registration. BSP_TRACE=collectives prints the choices, BSP_MACHINE gives the machine, and
 * BSP_COLLECTIVES the algorithm (bsplib(7)).
 *
 * Errors end the job as those of bsp.h do: root outside 0..p-1, a negative size, NULL for an area
 * that is used. BSP_CHECK=full finds, too, with more than one process, that not all make the same
 * call, and that messages would be lost.
 */
#ifndef BSP_LEVEL1_H_
#define BSP_LEVEL1_H_

#include <bsp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Moving data --------------------------------------------------------------------------- */

/* Copies nbytes bytes at `src` on `root` to `dst` on all processes, root included. `src` counts on
 * root alone, and may be dst. Cost, the least of: direct, (p-1) n g + l; a tree of fan-out d,
 * (d-1) n g + l for each of its log_d p levels; scatter and gather, 2 n g + 2 l; a pipeline of k
 * pieces, (p+k-2) (n g / k + l); on one node, reading from root, n g + 2 l. */
void bsp_bcast(int root, void *src, void *dst, int nbytes);

/* Copies block i of `src` on `root`, bytes i * nbytes to (i+1) * nbytes - 1, to `dst` on process i.
 * `src` counts on root alone. Cost: (p-1) n g + l, or on one node, reading, n g + 2 l. */
void bsp_scatter(int root, void *src, void *dst, int nbytes);

/* Copies nbytes bytes at `src` on each process i to block i of `dst` on `root`, which has
 * p * nbytes bytes and counts there alone. Cost: (p-1) n g + l. */
void bsp_gather(int root, void *src, void *dst, int nbytes);

/* Total exchange: block i of `src`, nbytes bytes, goes to process i, where it becomes block j of
 * `dst`, j being this process. Both have p * nbytes bytes and do not overlap. (BSPlib 1997,
 * appendix A, names it; the toolset has none. The arguments are those of its sisters.)
 * Cost: (p-1) n g + l. */
void bsp_exchange(void *src, void *dst, int nbytes);

/* ---- Reductions and prefixes ----------------------------------------------------------------- */

/* Combines the values at `src` of processes 0..p-1, in this order, and leaves the result at `dst`
 * on all of them; a value has nbytes bytes. `op` stores the combination of *left and *right in
 * *result; it is associative, need not be commutative, calls nothing of the library, and its three
 * areas never overlap. How it is bracketed is open. Cost: log_d p levels of (d-1) n g + l and d-1
 * calls of op, for the d that is cheapest; d = p is one superstep in which all send to all. */
void bsp_fold(void (*op)(void *result, void *left, void *right, int *nbytes), void *src, void *dst,
              int nbytes);

/* The same for the values of processes 0 to this one, this one included. Cost: as bsp_fold. */
void bsp_scan(void (*op)(void *result, void *left, void *right, int *nbytes), void *src, void *dst,
              int nbytes);

/* The same of vectors of `nelements` elements of `nbytes` bytes each, of which op combines those of
 * one place, as many as *nbytes bytes hold: it may be called for any that follow one another. So a
 * vector may be cut. (Not the toolset's: bsp_fold and bsp_scan take their values whole.) Cost: as
 * bsp_fold; or for n bytes, 2 (1 - 1/p) n g + 2 l, each process combining a p-th part; a scan also
 * (p+k-2) (n g / k + l), in k pieces from process to process. */
void bsp_fold_elements(void (*op)(void *result, void *left, void *right, int *nbytes), void *src,
                       void *dst, int nelements, int nbytes);
void bsp_scan_elements(void (*op)(void *result, void *left, void *right, int *nbytes), void *src,
                       void *dst, int nelements, int nbytes);

/* Whether x is not 0 on all processes; on any; whether x is the same on all. 1 or 0, the same
 * everywhere. Cost: as bsp_fold of a few bytes. */
int bsp_all(int x);
int bsp_any(int x);
int bsp_constantI(int x);

/* Sum, product, least and greatest of the x of all processes: the same everywhere, and the same in
 * each run with this p. I is for int, R for float, D for double. Cost: as bsp_fold. */
int bsp_sumI(int x);
float bsp_sumR(float x);
double bsp_sumD(double x);
int bsp_productI(int x);
float bsp_productR(float x);
double bsp_productD(double x);
int bsp_minI(int x);
float bsp_minR(float x);
double bsp_minD(double x);
int bsp_maxI(int x);
float bsp_maxR(float x);
double bsp_maxD(double x);

/* The same of the x of processes 0 to this one, this one included. Cost: as bsp_scan. */
int bsp_sumI_prefix(int x);
float bsp_sumR_prefix(float x);
double bsp_sumD_prefix(double x);
int bsp_productI_prefix(int x);
float bsp_productR_prefix(float x);
double bsp_productD_prefix(double x);
int bsp_minI_prefix(int x);
float bsp_minR_prefix(float x);
double bsp_minD_prefix(double x);
int bsp_maxI_prefix(int x);
float bsp_maxR_prefix(float x);
double bsp_maxD_prefix(double x);

/* The x of all processes in ascending order: process i gets the i-th smallest, from 0. NaNs are the
 * greatest. Cost: (p-1) n g + l, and the time to select among p. */
char bsp_sortC(char x);
int bsp_sortI(int x);
float bsp_sortR(float x);
double bsp_sortD(double x);

/* ---- The machine. Local, no cost ------------------------------------------------------------- */

/* The parameters by which these calls choose, the same on all processes: s, floating-point
 * operations a second of a process; g, operations a word of 32 bits of a large h-relation; l,
 * operations a barrier of p processes; n1/2, words of a message that is moved at half the speed of
 * a long one (Skillicorn, Hill, McColl 1996, "The BSP cost model"). From BSP_MACHINE, which
 * says what `bsp probe` measured unless it is set; or else of the machine on which bspnow was
 * measured. Error: before bsp_begin. */
double bsp_s(void);
double bsp_g(void);
double bsp_l(void);
int bsp_nhalf(void);

#ifdef __cplusplus
}
#endif

#endif /* BSP_LEVEL1_H_ */
