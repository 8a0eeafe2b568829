/* bsp.h: BSPlib, the BSP programming library, as run by bspnow.
 *
 * The calls are those of "BSPlib: The BSP Programming Library" (Hill, McColl, Stefanescu, Goudreau,
 * Lang, Rao, Suel, Tsantilas, Bisseling; May 1997), with the meaning given there; docs/semantics.md
 * settles what that paper leaves open. Usable from C89 to C23 and from C++.
 *
 * Two dialects, chosen per source file; files of both may be linked into one program:
 *   default                the paper's: sizes, counts, pids are int; a transfer is below 2 GiB;
 *   BSP_MULTICORE defined  MulticoreBSP's: sizes are size_t, counts and pids unsigned. Define it
 *                          before this header is included, or compile with `bspcc --multicore`.
 *
 * BSP cost, as stated beside each call: a superstep costs w + h*g + l, where w is the largest local
 * computation, h the largest number of bytes that a process sends or receives, g the time per byte
 * and l the time of the barrier. "Adds n to h" means: n bytes out here, n bytes in there.
 *
 * Errors: a call that breaks the contract ends the whole job with exit status 6 and a message that
 * names the call, the pid, the superstep, the sizes and what to do. No call returns an error code.
 * Run with BSP_CHECK=full to find also what the paper leaves undefined (docs/semantics.md).
 */
#ifndef BSP_H_
#define BSP_H_

#ifdef PUB_H_
#error "bsp.h and pub.h give the same names to different calls: include one of them in a file"
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h> /* The Oxford BSP toolset's bsp.h includes it, and programs rely on that. */

#ifdef BSP_MULTICORE
typedef unsigned int bsp_pid_t;    /* A process, 0 <= pid < p. */
typedef unsigned int bsp_nprocs_t; /* A number of processes. */
typedef size_t bsp_size_t;         /* Bytes. */
typedef unsigned int bsp_count_t;  /* A number of messages. */

/* The same names, other symbols: the two dialects live side by side in one library. */
#define bsp_init bsp_mc_init
#define bsp_begin bsp_mc_begin
#define bsp_nprocs bsp_mc_nprocs
#define bsp_pid bsp_mc_pid
#define bsp_push_reg bsp_mc_push_reg
#define bsp_pushregister bsp_mc_pushregister
#define bsp_put bsp_mc_put
#define bsp_hpput bsp_mc_hpput
#define bsp_hput bsp_mc_hput
#define bsp_get bsp_mc_get
#define bsp_hpget bsp_mc_hpget
#define bsp_direct_get bsp_mc_direct_get
#define bsp_set_tagsize bsp_mc_set_tagsize
#define bsp_set_tag_size bsp_mc_set_tag_size
#define bsp_sent_tagsize bsp_mc_sent_tagsize
#define bsp_queue_tagsize bsp_mc_queue_tagsize
#define bsp_send bsp_mc_send
#define bsp_hpsend bsp_mc_hpsend
#define bsp_qsize bsp_mc_qsize
#define bsp_get_tag bsp_mc_get_tag
#define bsp_move bsp_mc_move
#define bsp_hpmove bsp_mc_hpmove
#define bsp_checkpoint_register bsp_mc_checkpoint_register
#else
typedef int bsp_pid_t;
typedef int bsp_nprocs_t;
typedef int bsp_size_t;
typedef int bsp_count_t;
#endif

#if defined(__GNUC__) || defined(__clang__)
#define BSP_PRINTF_(format_at, args_at) __attribute__((__format__(__printf__, format_at, args_at)))
#define BSP_NORETURN_ __attribute__((__noreturn__))
#else
#define BSP_PRINTF_(format_at, args_at)
#define BSP_NORETURN_
#endif

/* An address that is only noted: a compiler must not warn that the area is not initialised. */
#if defined(__has_attribute) && !defined(BSP_ADDRESS_ONLY_)
#if __has_attribute(__access__) && !defined(__clang__)
#define BSP_ADDRESS_ONLY_ __attribute__((__access__(__none__, 1)))
#endif
#endif
#ifndef BSP_ADDRESS_ONLY_
#define BSP_ADDRESS_ONLY_
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Initialisation (BSPlib 1997, "Starting and finishing SPMD code") ---------------------- */

/* Makes `spmdproc` the SPMD part of a program whose main is sequential. Must be the first statement
 * of main. On pid 0 it returns and main goes on alone; every other process enters `spmdproc` at
 * once, and leaves the program when that returns. argc and argv are main's; all processes get them.
 * MulticoreBSP: may be called again, and names the procedure of the sections that follow; the
 * others enter it when pid 0 has begun a section. Cost: none. */
void bsp_init(void (*spmdproc)(void), int argc, char **argv);

/* Begins the SPMD part with p = min(maxprocs, processes of the job) processes; the value given on
 * pid 0 counts. Processes that are not needed leave without a word. Superstep 0 starts.
 * MulticoreBSP: begins a section; there may be several, also within others (docs/semantics.md).
 * Error: maxprocs < 1 on pid 0; in the paper's dialect, a second bsp_begin. Cost: l, once; 2 l for
 * a later section. */
void bsp_begin(bsp_nprocs_t maxprocs);

/* Ends the SPMD part; a barrier. All p processes must call it, in the same superstep. After
 * bsp_init only pid 0 continues after it. Puts, gets and sends issued since the last bsp_sync have
 * no effect. MulticoreBSP: ends the section that began last, and what was issued since the last
 * bsp_sync takes effect. Error: another process is in bsp_sync, or has left. Cost: l; in a section
 * h*g + l. */
void bsp_end(void);

/* ---- Halt ("One process stops all") ---------------------------------------------------------- */

/* Prints the message (as printf does) on the job's standard error and ends the job, exit status 6,
 * without a barrier. May be called anywhere. Of several callers in a superstep, one or more may be
 * heard. Does not return. */
void bsp_abort(const char *format, ...) BSP_PRINTF_(1, 2) BSP_NORETURN_;

/* The same, with the arguments as a va_list (MulticoreBSP). */
void bsp_vabort(const char *format, va_list args) BSP_PRINTF_(1, 0) BSP_NORETURN_;

/* ---- Enquiry. Local, no cost ----------------------------------------------------------------- */

/* Before bsp_begin: the number of processors available to the job. After it: p. */
bsp_nprocs_t bsp_nprocs(void);

/* This process, 0 <= pid < p. Error: before bsp_begin. */
bsp_pid_t bsp_pid(void);

/* Seconds of wall-clock time since this process's bsp_begin; no relation to the clocks of other
 * processes. In a job that resumes it goes on from where it was saved. Resolution: nanoseconds.
 * Error: before bsp_begin. */
double bsp_time(void);

/* Oxford BSP toolset: seconds since the last call of bsp_dtime (or since bsp_begin). */
double bsp_dtime(void);

/* Oxford BSP toolset: seconds of processor time that this process has used, before it was saved and
 * came back, too. */
double bsp_cputime(void);

/* ---- Superstep ------------------------------------------------------------------------------- */

/* Ends the superstep: every communication issued in it, by any process, has taken effect when the
 * call returns; the queue holds the messages sent to this process; pushes, pops and the tag size
 * become valid. All p processes must call it. Order: all gets are read; then gets, then puts are
 * written, by pid of the source and order of issue. Cost: h*g + l. */
void bsp_sync(void);

/* ---- DRMA: registration ---------------------------------------------------------------------- */

/* Registers `size` bytes at `ident` as this process's part of the next registration slot.
 * Collective; usable from the next superstep. NULL means: nothing here. Sizes may differ between
 * processes; 0 is legal. Error: negative size; at the barrier, if another process pushed or popped
 * otherwise. Cost: none. */
void bsp_push_reg(const void *ident, bsp_size_t size) BSP_ADDRESS_ONLY_;

/* Removes, from the next superstep on, the newest slot that holds `ident`; the one before it is
 * valid again. Collective. Error: `ident` in no slot; at the barrier, if the processes name
 * different slots. Cost: none. */
void bsp_pop_reg(const void *ident) BSP_ADDRESS_ONLY_;

/* ---- DRMA: put and get ----------------------------------------------------------------------- */

/* Copies `nbytes` bytes at `src` here to `dst` + `offset` bytes on `pid`, where `dst` stands for
 * the area that `pid` registered in the same slot. Buffered on source (src may be reused when the
 * call returns) and on destination (written at the end of the superstep, after all gets have been
 * read). 0 bytes do nothing. Error: pid outside 0..p-1, negative offset or nbytes, dst not
 * registered, offset + nbytes beyond the size registered by `pid`. Adds nbytes to h. */
void bsp_put(bsp_pid_t pid, const void *src, void *dst, bsp_size_t offset, bsp_size_t nbytes);

/* The same, unbuffered: may take effect at any time until the end of the superstep. Neither area
 * may change or be used otherwise until then. Needs no buffer: for large transfers. Adds nbytes
 * to h. bsp_hput is the paper's other spelling. */
void bsp_hpput(bsp_pid_t pid, const void *src, void *dst, bsp_size_t offset, bsp_size_t nbytes);
void bsp_hput(bsp_pid_t pid, const void *src, void *dst, bsp_size_t offset, bsp_size_t nbytes);

/* Copies `nbytes` bytes at `src` + `offset` on `pid` to `dst` here. The bytes are those at the end
 * of the superstep's computation, before any put is written; `dst` is written at the end of the
 * superstep and need not be registered. 0 bytes do nothing. Errors as bsp_put, for `src`. Adds
 * nbytes to h. */
void bsp_get(bsp_pid_t pid, const void *src, bsp_size_t offset, void *dst, bsp_size_t nbytes);

/* The same, unbuffered: may take effect at any time until the end of the superstep. */
void bsp_hpget(bsp_pid_t pid, const void *src, bsp_size_t offset, void *dst, bsp_size_t nbytes);

/* The same, at once: the bytes are at `dst` when the call returns (MulticoreBSP). The area on `pid`
 * must not change during the superstep. Adds nbytes to h, and waits for the transfer. */
void bsp_direct_get(bsp_pid_t pid, const void *src, bsp_size_t offset, void *dst,
                    bsp_size_t nbytes);

/* ---- BSMP: messages -------------------------------------------------------------------------- */

/* Sets the tag size of the messages sent from the next superstep on, in bytes, and returns in
 * *tag_nbytes the value set by the call before it (0 at first). Collective, the same value
 * everywhere; the last call in a superstep counts. Error: NULL, negative; at the barrier, if the
 * values differ. Cost: none. */
void bsp_set_tagsize(bsp_size_t *tag_nbytes);

/* Sends a message, a tag and a payload of `payload_nbytes` bytes, to the queue of `pid`, where it
 * can be read during the next superstep, and only then. Both are copied before the call returns;
 * either may be NULL if its size is 0. Error: pid outside 0..p-1, negative size. Adds tag size +
 * payload_nbytes to h. */
void bsp_send(bsp_pid_t pid, const void *tag, const void *payload, bsp_size_t payload_nbytes);

/* The same, unbuffered: tag and payload must not change until the end of the superstep
 * (MulticoreBSP). */
void bsp_hpsend(bsp_pid_t pid, const void *tag, const void *payload, bsp_size_t payload_nbytes);

/* The number of messages in the queue that have not been moved yet, and the sum of the sizes of
 * their payloads; accum_nbytes may be NULL. Error: nmessages is NULL; a value beyond the type (then
 * use BSP_MULTICORE). Local. */
void bsp_qsize(bsp_count_t *nmessages, bsp_size_t *accum_nbytes);

/* Queue empty: *status becomes -1 (as bsp_size_t), *tag is left alone. Else *status becomes the
 * payload size of the first message and its tag is copied to *tag (may be NULL if the tag size is
 * 0). Does not remove the message. Local. */
void bsp_get_tag(bsp_size_t *status, void *tag);

/* Copies at most `reception_nbytes` bytes of the first message's payload to `payload` and removes
 * the message. Error: empty queue. Local. */
void bsp_move(void *payload, bsp_size_t reception_nbytes);

/* Queue empty: returns -1 (as bsp_size_t). Else removes the first message, returns its payload size
 * and points *tag_ptr and *payload_ptr at its parts, aligned for any type that fits into them and
 * valid until the next barrier. Local, copies nothing. */
bsp_size_t bsp_hpmove(void **tag_ptr, void **payload_ptr);

/* ---- Checkpoints of the program's own (docs/checkpoints.md) ---------------------------------- */

/* A job that a cluster runs is saved now and then, and goes on after a failure; a program need not
 * know. One that calls these two wants small images, or cannot be saved as a whole: only its areas
 * are, at the end of a bsp_sync, never of a collective call. After a failure it starts from its
 * beginning, registers the same areas, and finds them as they were; DRMA registrations and unread
 * messages are not saved. MulticoreBSP: in a section of all processes, whose bsp_end ends the
 * areas; from then on processes are saved as a whole.
 *
 *   bsp_begin(p);
 *   bsp_checkpoint_register(&step, sizeof step);
 *   bsp_checkpoint_register(x, n * sizeof *x);
 *   if (bsp_checkpoint_resume() == 0) start(x, &step);
 *   for (; step < steps; ...) { ...; ++step; bsp_sync(); }
 */

/* Makes `nbytes` bytes at `data` part of this process's image; it must remain memory of the program
 * until bsp_end, of this section. Local; areas and their sizes may differ between processes, but
 * not between the runs of one job. A process that has none registers NULL, 0. Error: negative
 * nbytes; NULL with nbytes > 0; after bsp_checkpoint_resume. Cost: none; an image takes the time to
 * copy them. */
void bsp_checkpoint_register(void *data, bsp_size_t nbytes);

/* If the job starts anew, or nothing restarts jobs here (bsprun on one machine): returns 0, and the
 * areas are as they were. If it resumes: fills the areas, and returns the number of the superstep
 * that began when they were saved, from 1. Collective, once, in any superstep after all areas have
 * been registered; before it nothing is saved, and what a job that resumes prints before it has
 * been printed by the first run. The same value on all processes. Error: no area registered; a
 * second call; areas other than those saved; at the barrier, if another process did not call it.
 * Cost: the time to read the areas; no barrier. */
int bsp_checkpoint_resume(void);

/* ---- For libraries on top of BSPlib, and bindings of other languages ------------------------- */

/* Ends the job as an error of this library does, exit status 6, with the message "bspnow: CALL on
 * pid I, superstep S: TEXT, at FILE:LINE", the text as printf makes it. Of several callers one is
 * heard. May be called anywhere. Does not return. */
void bsp_fail(const char *call, const char *format, ...) BSP_PRINTF_(2, 3) BSP_NORETURN_;

/* A number that each barrier of the SPMD section raises in which this process is; *sections becomes
 * the number of these sections, 1 but for MulticoreBSP's that are within others, or 0 outside. So a
 * library knows whether a superstep is over. Local. */
size_t bsp_superstep(int *sections);

/* The size of a tag: of the messages sent in this superstep; of those in the queue. Local. */
bsp_size_t bsp_sent_tagsize(void);
bsp_size_t bsp_queue_tagsize(void);

/* ---- The paper's other spellings ------------------------------------------------------------- */

void bsp_pushregister(const void *ident, bsp_size_t size) BSP_ADDRESS_ONLY_;
void bsp_popregister(const void *ident) BSP_ADDRESS_ONLY_;
void bsp_set_tag_size(bsp_size_t *tag_nbytes);

#ifdef __cplusplus
}
#endif

#endif /* BSP_H_ */
