/* pub.h: the Paderborn University BSP library (PUB), as run by bspnow.
 *
 * The calls are those of "The Paderborn University BSP (PUB) library" (Bonorden, Juurlink, von
 * Otte, Rieping; Parallel Computing 29, 2003), with the meaning given there; docs/semantics.md
 * settles what that paper leaves open. Usable from C89 to C23 and from C++.
 *
 *   int main(int argc, char **argv)
 *   {
 *     t_bsp bsp;
 *     bsplib_saveargs(&argc, &argv);
 *     bsplib_init(BSPLIB_STDPARAMS, &bsp);
 *     ... bsp_send(&bsp, 0, &x, sizeof x); bsp_sync(&bsp); ...
 *     bsplib_done();
 *     return 0;
 *   }
 *
 * Most calls take a BSP object first: a group of processes with a numbering, messages,
 * registrations and supersteps of its own. bsplib_init makes that of all processes. "All
 * processes" below means: all of the group of the object.
 *
 * Some names are also BSPlib's, with other arguments: bsp.h and pub.h do not go into one source
 * file, but files of both may be linked into one program. With PUB_BSPLIB defined this header is
 * bsp.h, and the file is a BSPlib program ("PUB can be configured to accept BSPlib programs",
 * section 1.1).
 *
 * BSP cost, as stated beside each call: a superstep of a group costs w + h*g + l, where w is the
 * largest local computation, h the largest number of bytes that a process sends or receives, g the
 * time per byte and l the time of the barrier, which grows with the number of processes in the
 * group. "Adds n to h" means: n bytes out here, n bytes in there.
 *
 * Errors: a call that breaks the contract ends the whole job with exit status 6 and a message that
 * names the call, the pid, the superstep, the sizes and what to do. No call returns an error code.
 * "Errors of pid": pid outside 0..p-1. Sizes are in bytes and not negative.
 */
#ifdef PUB_BSPLIB
#include <bsp.h>
#else

#ifndef PUB_H_
#define PUB_H_

#ifdef BSP_H_
#error "bsp.h and pub.h give the same names to different calls: include one of them in a file"
#endif

/* The same names, other symbols: the two libraries live side by side in one. */
#define bsp_nprocs bsp_pub_nprocs
#define bsp_pid bsp_pub_pid
#define bsp_sync bsp_pub_sync
#define bsp_send bsp_pub_send
#define bsp_hpsend bsp_pub_hpsend
#define bsp_push_reg bsp_pub_push_reg
#define bsp_pop_reg bsp_pub_pop_reg
#define bsp_put bsp_pub_put
#define bsp_hpput bsp_pub_hpput
#define bsp_get bsp_pub_get
#define bsp_hpget bsp_pub_hpget

#ifdef __cplusplus
extern "C" {
#endif

/* A BSP object (section 4.1). The program's is a name for what the library keeps; bsplib_init,
 * bsp_partition or bsp_dup fill it, and it is of use until bsplib_done or bsp_done. */
typedef struct bsp_pub_object_ {
  unsigned long mark_;
  void *object_;
} t_bsp, tbsp, *pbsp;

/* An operation on elements of `size` bytes: combine stores left[i] op right[i] in result[i], for
 * each i from 0 to count - 1; `param` is what the program gave to the call. It is associative and
 * need not be commutative; result overlaps neither left nor right. Of this library it may call
 * bsp_pid and bsp_nprocs. */
typedef struct bsp_pub_operation_ {
  int size;
  void (*combine)(void *result, const void *left, const void *right, int count, void *param);
} t_bspop, tbspop;

/* A message that was received; a program has only pointers to it. */
typedef struct bsp_pub_message_ t_bspmsg, tbspmsg;

struct bsp_pub_parameters_;
#define BSPLIB_STDPARAMS ((const struct bsp_pub_parameters_ *)0)

/* ---- Start and end ------------------------------------------------------------------------- */

/* Before bsplib_init, with the addresses of main's arguments. All processes have them: nothing
 * changes. */
void bsplib_saveargs(int *argc, char ***argv);

/* Begins with all processes of the job; superstep 0 starts. *bsp becomes the object of all of them.
 * Error: a second call; after bsp_begin; NULL. Cost: l, once. */
void bsplib_init(const struct bsp_pub_parameters_ *parameters, pbsp bsp);

/* Ends what bsplib_init began; a barrier, which all processes must call in the same superstep. What
 * was sent since the last bsp_sync is lost. Error: objects of bsp_partition or bsp_dup that
 * are open still. Cost: l. */
void bsplib_done(void);

/* ---- Enquiry. Local, no cost --------------------------------------------------------------- */

/* The number of processes in the group of `bsp` (section 2.4). */
int bsp_nprocs(pbsp bsp);

/* This process in that group, 0 <= pid < p. */
int bsp_pid(pbsp bsp);

/* ---- Groups. Without communication (section 4.1.1) ------------------------------------------ */

/* Splits the group of `bsp` into `n` groups: the processes with the pids 0 to part[0] - 1, those
 * from part[0] to part[1] - 1, and so on. *subbsp becomes the object of the one in which this
 * process is: an autonomous BSP computer, with pids from 0. All processes call it with the same
 * values. Messages of `bsp` stay where they are. Error: n < 1; parts that do not ascend, or do not
 * end at p; another process of this node has open what should be the same group, of others. Cost:
 * O(p) of computing. */
void bsp_partition(pbsp bsp, pbsp subbsp, int n, int *part);

/* *dupbsp becomes another object of the same processes, whose messages and supersteps do not
 * interfere with those of `bsp`: for procedures of a library (section 4.1.2). All processes call
 * it. Cost: O(p) of computing. */
void bsp_dup(pbsp bsp, pbsp dupbsp);

/* The same as bsp_dup, for another thread of this process: *dupbsp, and what is made of it, may be
 * used while other threads use other objects. Messages do not interfere, and a barrier suspends the
 * thread that calls it and no other. A single object is for one thread at a time. No image is taken
 * of the process while such objects are open. Unlike in PUB no communication is needed. Error:
 * under bsprun --simulate. Cost: O(p) of computing. */
void bsp_threadsafe_dup(pbsp bsp, pbsp dupbsp);

/* This process is done with an object of bsp_partition, bsp_dup or bsp_threadsafe_dup, and `bsp`
 * names nothing any more. Objects are closed in the opposite order of their making
 * ("last-in-first-out"); one of bsp_threadsafe_dup, when all that was made of it is closed,
 * whatever other threads have open. What was sent in it since its last bsp_sync is lost. Error: a
 * newer object is open; the object of bsplib_init. */
void bsp_done(pbsp bsp);

/* ---- Supersteps ----------------------------------------------------------------------------- */

/* Ends the superstep of the group: all that was communicated in it has taken effect when the call
 * returns, and the messages that were sent to this process can be read. All processes call it.
 * Cost: h*g + l. */
void bsp_sync(pbsp bsp);

/* Ends the superstep as soon as the `n` messages are here that all processes together send to this
 * one in it, however far the others are (section 2.5). A broadcast is a message for each process
 * that gets it, and a reduction or a scan counts as one message for each process that takes part in
 * it. Messages of later supersteps wait for theirs (section 4.2.3). All processes end the superstep
 * with this call, each with its own n. If areas were registered or removed in the superstep it ends
 * with a barrier; so does one of bsplib_init's object when a checkpoint is due and no other object
 * is open. Error: n is not that number; puts or gets in the superstep. Cost: h*g on one node. In
 * the object of bsplib_init on two to 31 nodes those of a node go on together, at most one
 * superstep ahead of other nodes; then it waits for all. On more nodes, and in other objects on
 * several nodes, it waits for all, and costs what bsp_sync does. */
void bsp_oblsync(pbsp bsp, int n);

/* ---- Messages ------------------------------------------------------------------------------- */

/* Sends the `size` bytes at `buf` to process `dest`, which can read them in the next superstep.
 * They have been copied when the call returns. Errors of pid; a negative size; NULL with size > 0.
 * Adds size to h. */
void bsp_send(pbsp bsp, int dest, const void *buf, int size);

/* The same, unbuffered: buf must not change until the end of the superstep (section 2.3). */
void bsp_hpsend(pbsp bsp, int dest, const void *buf, int size);

/* The messages that were sent to this process in the last superstep: their number; the i-th of all,
 * from 0; the i-th of those from `src`, from 0. They are ordered by the pid of the source, then as
 * they were sent. NULL: there is none. A message stays until the next bsp_sync or bsp_oblsync of
 * `bsp`, however often it is looked at. Local, copies nothing. Error: src outside 0..p-1. */
int bsp_nmsgs(pbsp bsp);
t_bspmsg *bsp_getmsg(pbsp bsp, int i);
t_bspmsg *bsp_findmsg(pbsp bsp, int src, int i);

/* The bytes of a message, where they may be computed with and changed, aligned for any type that
 * fits into them; their number; the pid of the source in the group. Error: NULL. Local. Where
 * several processes of a node get the same 16 KiB or more (bsp_gsend, bsp_lsend), the first call
 * for a message makes this process's own copy, but for the last of them to call: the messages of an
 * object are for one thread at a time, as the object is. */
void *bspmsg_data(t_bspmsg *msg);
int bspmsg_size(t_bspmsg *msg);
int bspmsg_src(t_bspmsg *msg);

/* ---- Collective communication. Does not block, on any processes of the group (section 3.1) --- */

/* The same message to each of the processes first, first + 1, ..., last, or table[0], ...,
 * table[n-1]; this one may be among them. What they get is a message from this process. With hp:
 * unbuffered. Errors of pid; first > last; n < 0. Cost: adds size to h for each process. Between
 * nodes what is 64 KiB or longer goes once to each node. */
void bsp_gsend(pbsp bsp, int first, int last, const void *buf, int size);
void bsp_lsend(pbsp bsp, int *table, int n, const void *buf, int size);
void bsp_hpgsend(pbsp bsp, int first, int last, const void *buf, int size);
void bsp_hplsend(pbsp bsp, int *table, int n, const void *buf, int size);

/* Reductions and scans: the processes first, ..., last or table[0], ..., table[n-1], the members,
 * make the same call in the same superstep; if they make several, in the same order. On a process
 * that is no member a call does nothing. `sbuf` holds `count` elements, which are combined with the
 * corresponding ones of the other members, in the order of the members. It has been copied when the
 * call returns; the results are in `rbuf`, which may be sbuf, when the superstep has ended. Errors
 * of pid; first > last; n < 1; a pid that is in the table twice; count < 0; NULL for an area that
 * is used; when the superstep ends: members that have not made the call, or another one (who should
 * have made one, and has not, is told when the next superstep ends). */

/* The combination of all, on the last member; other members' rbuf does not count. With all: on
 * every member. Cost, for k members and n = count * op->size: k n g; with all: k n g everywhere. */
void bsp_greduce(pbsp bsp, int first, int last, const void *sbuf, void *rbuf, int count,
                 const t_bspop *op, void *param);
void bsp_lreduce(pbsp bsp, int *table, int n, const void *sbuf, void *rbuf, int count,
                 const t_bspop *op, void *param);
void bsp_gallreduce(pbsp bsp, int first, int last, const void *sbuf, void *rbuf, int count,
                    const t_bspop *op, void *param);
void bsp_lallreduce(pbsp bsp, int *table, int n, const void *sbuf, void *rbuf, int count,
                    const t_bspop *op, void *param);

/* On each member the combination of the values of the first member to its own, this included. With
 * all: on every member the results of all, k * count elements. Cost: k n g. */
void bsp_gscan(pbsp bsp, int first, int last, const void *sbuf, void *rbuf, int count,
               const t_bspop *op, void *param);
void bsp_lscan(pbsp bsp, int *table, int n, const void *sbuf, void *rbuf, int count,
               const t_bspop *op, void *param);
void bsp_gallscan(pbsp bsp, int first, int last, const void *sbuf, void *rbuf, int count,
                  const t_bspop *op, void *param);
void bsp_lallscan(pbsp bsp, int *table, int n, const void *sbuf, void *rbuf, int count,
                  const t_bspop *op, void *param);

/* Sums, products, least and greatest elements; they take no parameter: NULL. */
extern const t_bspop bspop_addint[1], bspop_mulint[1], bspop_minint[1], bspop_maxint[1];
extern const t_bspop bspop_addfloat[1], bspop_mulfloat[1], bspop_minfloat[1], bspop_maxfloat[1];
extern const t_bspop bspop_adddouble[1], bspop_muldouble[1];
extern const t_bspop bspop_mindouble[1], bspop_maxdouble[1];

/* ---- Remote memory: as in BSPlib, of the group of `bsp` (section 3.2) ----------------------- */

/* Registers `size` bytes at `ident` as this process's part of the next registration; all processes
 * call it, NULL or size 0 if they have none. Usable from the next superstep. Cost: none. */
void bsp_push_reg(pbsp bsp, const void *ident, int size);

/* Removes the newest registration of `ident` from the next superstep on; all processes call it. */
void bsp_pop_reg(pbsp bsp, const void *ident);

/* Copies `size` bytes at `src` to `dest` + `offset` on `pid`, where `dest` stands for the area that
 * pid has registered with it. Buffered on both sides: src may be used again at once, and dest is
 * written at the end of the superstep, after all gets have been read. Errors of pid; an area that
 * is not registered, or too small. Adds size to h. */
void bsp_put(pbsp bsp, int pid, const void *src, void *dest, int offset, int size);

/* Copies `size` bytes at `src` + `offset` on `pid`, as they are at the end of the superstep before
 * any put is written, to `dest`. Errors as bsp_put. Adds size to h. */
void bsp_get(pbsp bsp, int pid, const void *src, int offset, void *dest, int size);

/* The same, unbuffered: at any time until the end of the superstep, and until then neither area may
 * change or be used otherwise. */
void bsp_hpput(pbsp bsp, int pid, const void *src, void *dest, int offset, int size);
void bsp_hpget(pbsp bsp, int pid, const void *src, int offset, void *dest, int size);

#ifdef __cplusplus
}
#endif

#endif /* PUB_H_ */
#endif /* PUB_BSPLIB */
