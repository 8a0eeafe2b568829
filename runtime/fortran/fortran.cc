/// The Fortran binding of BSPlib: "in FORTRAN we use the same name without any underscores"
/// (BSPlib 1997, footnote 1).
///
/// Symbols and arguments are as gfortran, flang and ifort call an external procedure on Linux: the
/// name in lower case with an underscore at its end, every argument by reference, and for each
/// CHARACTER argument its length, by value, after all others. A <TYPE> argument of the paper may
/// be a CHARACTER variable too: its length then arrives as one argument more than is declared here,
/// which the calling conventions of x86-64 and AArch64 allow and which is ignored.
///
/// fbsp.h, fbsp_level1.h and the module in bsp.f90 declare these routines. See docs/fortran.md.

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/bsp_level1.h"

// The definitions of the size_t dialect: bsp.h declares one dialect for each file.
extern "C" {
void bsp_mc_push_reg(const void* ident, size_t size);
void bsp_mc_put(unsigned pid, const void* src, void* dst, size_t offset, size_t nbytes);
void bsp_mc_hpput(unsigned pid, const void* src, void* dst, size_t offset, size_t nbytes);
void bsp_mc_get(unsigned pid, const void* src, size_t offset, void* dst, size_t nbytes);
void bsp_mc_hpget(unsigned pid, const void* src, size_t offset, void* dst, size_t nbytes);
void bsp_mc_set_tagsize(size_t* tag_nbytes);
void bsp_mc_send(unsigned pid, const void* tag, const void* payload, size_t payload_nbytes);
void bsp_mc_qsize(unsigned* nmessages, size_t* accum_nbytes);
void bsp_mc_get_tag(size_t* status, void* tag);
void bsp_mc_move(void* payload, size_t reception_nbytes);
void bsp_mc_checkpoint_register(void* data, size_t nbytes);
}

// The library takes the return address of its calls for the user's call site. So each routine ends
// in a jump to the call it stands for, in builds for debugging too (Clang: only when optimising).
#ifndef __clang__
#pragma GCC optimize("O2")
#endif

#define BSP_FORTRAN extern "C" __attribute__((visibility("default")))

/// COMMON /bspunreg/ bspunregistered(1), Fortran's NULL ("Registration", footnote 5). Only its
/// address counts. The size is that of the block in fbsp.h (the linker warns if it is not), the
/// alignment as large as any compiler asks for.
BSP_FORTRAN int32_t bspunreg_[1];
__attribute__((aligned(32))) int32_t bspunreg_[1] = {0};

namespace {

using Integer = int32_t;      // INTEGER
using LongInteger = int64_t;  // INTEGER(8): sizes past 2 GiB, through the generic names of bsp.f90

const void* NullIfUnregistered(const void* address) {
  return address == bspunreg_ ? nullptr : address;
}

void* NullIfUnregistered(void* address) { return address == bspunreg_ ? nullptr : address; }

/// Whether the call goes to the paper's dialect: all values fit an int; or one is negative, an
/// error that a size_t could not show. Clamped takes a value there without losing its sign.
bool ForPaperDialect(LongInteger a, LongInteger b, LongInteger c) {
  return a < 0 || b < 0 || c < 0 || (a <= INT_MAX && b <= INT_MAX && c <= INT_MAX);
}

bool ForPaperDialect(LongInteger a) { return ForPaperDialect(a, 0, 0); }

int Clamped(LongInteger value) {
  if (value > INT_MAX) return INT_MAX;
  return value < INT_MIN ? INT_MIN : static_cast<int>(value);
}

size_t Size(LongInteger value) { return static_cast<size_t>(value); }

// ---- Transfers of any size: `area` is the registered one ----------------------------------------

void Put(Integer pid, const void* src, void* area, LongInteger offset, LongInteger nbytes) {
  if (ForPaperDialect(pid, offset, nbytes))
    bsp_put(pid, src, area, Clamped(offset), Clamped(nbytes));
  else
    bsp_mc_put(static_cast<unsigned>(pid), src, area, Size(offset), Size(nbytes));
}

void HpPut(Integer pid, const void* src, void* area, LongInteger offset, LongInteger nbytes) {
  if (ForPaperDialect(pid, offset, nbytes))
    bsp_hpput(pid, src, area, Clamped(offset), Clamped(nbytes));
  else
    bsp_mc_hpput(static_cast<unsigned>(pid), src, area, Size(offset), Size(nbytes));
}

void Get(Integer pid, const void* area, LongInteger offset, void* dst, LongInteger nbytes) {
  if (ForPaperDialect(pid, offset, nbytes))
    bsp_get(pid, area, Clamped(offset), dst, Clamped(nbytes));
  else
    bsp_mc_get(static_cast<unsigned>(pid), area, Size(offset), dst, Size(nbytes));
}

void HpGet(Integer pid, const void* area, LongInteger offset, void* dst, LongInteger nbytes) {
  if (ForPaperDialect(pid, offset, nbytes))
    bsp_hpget(pid, area, Clamped(offset), dst, Clamped(nbytes));
  else
    bsp_mc_hpget(static_cast<unsigned>(pid), area, Size(offset), dst, Size(nbytes));
}

/// Of a variable in the common block that begins with `first`.
LongInteger OffsetIn(const void* first, const void* variable) {
  return static_cast<const char*>(variable) - static_cast<const char*>(first);
}

}  // namespace

// ---- Initialisation, halt, enquiry, superstep ---------------------------------------------------

/// Fortran has no argc and argv; GET_COMMAND_ARGUMENT works on every process.
BSP_FORTRAN void bspinit_(void (*spmdproc)()) { bsp_init(spmdproc, 0, nullptr); }

BSP_FORTRAN void bspbegin_(const Integer* maxprocs) { bsp_begin(*maxprocs); }

BSP_FORTRAN void bspend_() { bsp_end(); }

/// "A single string that is printed" (BSPlib 1997, "One process stops all"): no format, and without
/// the blanks that pad a CHARACTER variable.
BSP_FORTRAN void bspabort_(const char* err_string, size_t err_string_length) {
  size_t length = err_string_length;
  while (length > 0 && err_string[length - 1] == ' ') --length;
  bsp_abort("%.*s", Clamped(static_cast<LongInteger>(length)), err_string);
}

BSP_FORTRAN Integer bspnprocs_() { return bsp_nprocs(); }

BSP_FORTRAN Integer bsppid_() { return bsp_pid(); }

BSP_FORTRAN double bsptime_() { return bsp_time(); }

BSP_FORTRAN double bspdtime_() { return bsp_dtime(); }

BSP_FORTRAN double bspcputime_() { return bsp_cputime(); }

BSP_FORTRAN void bspsync_() { bsp_sync(); }

// ---- DRMA ---------------------------------------------------------------------------------------

BSP_FORTRAN void bsppushreg_(const void* ident, const Integer* size) {
  bsp_push_reg(NullIfUnregistered(ident), *size);
}

BSP_FORTRAN void bsppopreg_(const void* ident) { bsp_pop_reg(NullIfUnregistered(ident)); }

BSP_FORTRAN void bspput_(const Integer* pid, const void* src, void* dst, const Integer* offset,
                         const Integer* nbytes) {
  bsp_put(*pid, src, NullIfUnregistered(dst), *offset, *nbytes);
}

BSP_FORTRAN void bsphpput_(const Integer* pid, const void* src, void* dst, const Integer* offset,
                           const Integer* nbytes) {
  bsp_hpput(*pid, src, NullIfUnregistered(dst), *offset, *nbytes);
}

BSP_FORTRAN void bspget_(const Integer* pid, const void* src, const Integer* offset, void* dst,
                         const Integer* nbytes) {
  bsp_get(*pid, NullIfUnregistered(src), *offset, dst, *nbytes);
}

BSP_FORTRAN void bsphpget_(const Integer* pid, const void* src, const Integer* offset, void* dst,
                           const Integer* nbytes) {
  bsp_hpget(*pid, NullIfUnregistered(src), *offset, dst, *nbytes);
}

// ---- BSMP ---------------------------------------------------------------------------------------

BSP_FORTRAN void bspsettagsize_(Integer* tag_nbytes) { bsp_set_tagsize(tag_nbytes); }

BSP_FORTRAN void bspsend_(const Integer* pid, const void* tag, const void* payload,
                          const Integer* payload_nbytes) {
  bsp_send(*pid, NullIfUnregistered(tag), NullIfUnregistered(payload), *payload_nbytes);
}

BSP_FORTRAN void bspqsize_(Integer* nmessages, Integer* accum_nbytes) {
  bsp_qsize(nmessages, accum_nbytes);
}

BSP_FORTRAN void bspgettag_(Integer* status, void* tag) {
  bsp_get_tag(status, NullIfUnregistered(tag));
}

BSP_FORTRAN void bspmove_(void* payload, const Integer* reception_nbytes) {
  bsp_move(NullIfUnregistered(payload), *reception_nbytes);
}

// ---- Collectives. An operation of Fortran takes its arguments as bsp_fold gives them -----------

BSP_FORTRAN void bspbcast_(const Integer* root, void* src, void* dst, const Integer* nbytes) {
  bsp_bcast(*root, NullIfUnregistered(src), dst, *nbytes);
}

BSP_FORTRAN void bspscatter_(const Integer* root, void* src, void* dst, const Integer* nbytes) {
  bsp_scatter(*root, NullIfUnregistered(src), dst, *nbytes);
}

BSP_FORTRAN void bspgather_(const Integer* root, void* src, void* dst, const Integer* nbytes) {
  bsp_gather(*root, src, NullIfUnregistered(dst), *nbytes);
}

BSP_FORTRAN void bspexchange_(void* src, void* dst, const Integer* nbytes) {
  bsp_exchange(src, dst, *nbytes);
}

BSP_FORTRAN void bspfold_(void (*op)(void*, void*, void*, Integer*), void* src, void* dst,
                          const Integer* nbytes) {
  bsp_fold(op, src, dst, *nbytes);
}

BSP_FORTRAN void bspscan_(void (*op)(void*, void*, void*, Integer*), void* src, void* dst,
                          const Integer* nbytes) {
  bsp_scan(op, src, dst, *nbytes);
}

// ---- Checkpoints of the program's own -----------------------------------------------------------

BSP_FORTRAN void bspcheckpointregister_(void* data, const Integer* nbytes) {
  bsp_checkpoint_register(NullIfUnregistered(data), *nbytes);
}

BSP_FORTRAN Integer bspcheckpointresume_() { return bsp_checkpoint_resume(); }

// ---- The other spellings: the paper's bsp_hput, the Oxford BSP toolset's registrations ----------

BSP_FORTRAN void bsppushregister_(const void* ident, const Integer* size) {
  bsp_pushregister(NullIfUnregistered(ident), *size);
}

BSP_FORTRAN void bsppopregister_(const void* ident) { bsp_popregister(NullIfUnregistered(ident)); }

BSP_FORTRAN void bsphput_(const Integer* pid, const void* src, void* dst, const Integer* offset,
                          const Integer* nbytes) {
  bsp_hput(*pid, src, NullIfUnregistered(dst), *offset, *nbytes);
}

// ---- The Oxford BSP toolset's FORTRAN 77 library ------------------------------------------------

BSP_FORTRAN void bspput_common_(const Integer* pid, const void* src, void* reg, const void* dst,
                                const Integer* nbytes) {
  Put(*pid, src, reg, OffsetIn(reg, dst), *nbytes);
}

BSP_FORTRAN void bsphpput_common_(const Integer* pid, const void* src, void* reg, const void* dst,
                                  const Integer* nbytes) {
  HpPut(*pid, src, reg, OffsetIn(reg, dst), *nbytes);
}

BSP_FORTRAN void bspget_common_(const Integer* pid, const void* reg, const void* src, void* dst,
                                const Integer* nbytes) {
  Get(*pid, reg, OffsetIn(reg, src), dst, *nbytes);
}

BSP_FORTRAN void bsphpget_common_(const Integer* pid, const void* reg, const void* src, void* dst,
                                  const Integer* nbytes) {
  HpGet(*pid, reg, OffsetIn(reg, src), dst, *nbytes);
}

/// The toolset compared the numbers in a library for debugging; BSP_CHECK=textual compares places.
BSP_FORTRAN void bspsync_number_(const Integer* /*number*/) { bsp_sync(); }

BSP_FORTRAN Integer bspall_(const Integer* x) { return bsp_all(*x); }
BSP_FORTRAN Integer bspany_(const Integer* x) { return bsp_any(*x); }
BSP_FORTRAN Integer bspconstanti_(const Integer* x) { return bsp_constantI(*x); }

BSP_FORTRAN Integer bspsorti_(const Integer* x) { return bsp_sortI(*x); }
BSP_FORTRAN float bspsortr_(const float* x) { return bsp_sortR(*x); }
BSP_FORTRAN double bspsortd_(const double* x) { return bsp_sortD(*x); }

#define BSP_FORTRAN_OF_EACH_TYPE(operation)                                                   \
  BSP_FORTRAN Integer bsp##operation##i_(const Integer* x) { return bsp_##operation##I(*x); } \
  BSP_FORTRAN float bsp##operation##r_(const float* x) { return bsp_##operation##R(*x); }     \
  BSP_FORTRAN double bsp##operation##d_(const double* x) { return bsp_##operation##D(*x); }   \
  BSP_FORTRAN Integer bsp##operation##i_prefix_(const Integer* x) {                           \
    return bsp_##operation##I_prefix(*x);                                                     \
  }                                                                                           \
  BSP_FORTRAN float bsp##operation##r_prefix_(const float* x) {                               \
    return bsp_##operation##R_prefix(*x);                                                     \
  }                                                                                           \
  BSP_FORTRAN double bsp##operation##d_prefix_(const double* x) {                             \
    return bsp_##operation##D_prefix(*x);                                                     \
  }

BSP_FORTRAN_OF_EACH_TYPE(sum)
BSP_FORTRAN_OF_EACH_TYPE(product)
BSP_FORTRAN_OF_EACH_TYPE(min)
BSP_FORTRAN_OF_EACH_TYPE(max)

BSP_FORTRAN double bsps_() { return bsp_s(); }
BSP_FORTRAN double bspg_() { return bsp_g(); }
BSP_FORTRAN double bspl_() { return bsp_l(); }
BSP_FORTRAN Integer bspnhalf_() { return bsp_nhalf(); }

// ---- Sizes and offsets as INTEGER(8) ------------------------------------------------------------

BSP_FORTRAN void bsppushreg8_(const void* ident, const LongInteger* size) {
  const void* area = NullIfUnregistered(ident);
  if (ForPaperDialect(*size))
    bsp_push_reg(area, Clamped(*size));
  else
    bsp_mc_push_reg(area, Size(*size));
}

BSP_FORTRAN void bspput8_(const Integer* pid, const void* src, void* dst, const LongInteger* offset,
                          const LongInteger* nbytes) {
  Put(*pid, src, NullIfUnregistered(dst), *offset, *nbytes);
}

BSP_FORTRAN void bsphpput8_(const Integer* pid, const void* src, void* dst,
                            const LongInteger* offset, const LongInteger* nbytes) {
  HpPut(*pid, src, NullIfUnregistered(dst), *offset, *nbytes);
}

BSP_FORTRAN void bspget8_(const Integer* pid, const void* src, const LongInteger* offset, void* dst,
                          const LongInteger* nbytes) {
  Get(*pid, NullIfUnregistered(src), *offset, dst, *nbytes);
}

BSP_FORTRAN void bsphpget8_(const Integer* pid, const void* src, const LongInteger* offset,
                            void* dst, const LongInteger* nbytes) {
  HpGet(*pid, NullIfUnregistered(src), *offset, dst, *nbytes);
}

BSP_FORTRAN void bspsettagsize8_(LongInteger* tag_nbytes) {
  if (*tag_nbytes < 0) {
    int negative = Clamped(*tag_nbytes);
    bsp_set_tagsize(&negative);
    return;
  }
  size_t nbytes = Size(*tag_nbytes);
  bsp_mc_set_tagsize(&nbytes);
  *tag_nbytes = static_cast<LongInteger>(nbytes);
}

BSP_FORTRAN void bspsend8_(const Integer* pid, const void* tag, const void* payload,
                           const LongInteger* payload_nbytes) {
  const void* tag_bytes = NullIfUnregistered(tag);
  const void* payload_bytes = NullIfUnregistered(payload);
  if (ForPaperDialect(*pid, *payload_nbytes, 0))
    bsp_send(*pid, tag_bytes, payload_bytes, Clamped(*payload_nbytes));
  else
    bsp_mc_send(static_cast<unsigned>(*pid), tag_bytes, payload_bytes, Size(*payload_nbytes));
}

BSP_FORTRAN void bspqsize8_(Integer* nmessages, LongInteger* accum_nbytes) {
  unsigned count = 0;
  size_t nbytes = 0;
  bsp_mc_qsize(&count, &nbytes);
  *nmessages = static_cast<Integer>(count);
  *accum_nbytes = static_cast<LongInteger>(nbytes);
}

/// The empty queue's -1 of type size_t is the LongInteger -1.
BSP_FORTRAN void bspgettag8_(LongInteger* status, void* tag) {
  size_t nbytes = 0;
  bsp_mc_get_tag(&nbytes, NullIfUnregistered(tag));
  *status = static_cast<LongInteger>(nbytes);
}

BSP_FORTRAN void bspmove8_(void* payload, const LongInteger* reception_nbytes) {
  void* area = NullIfUnregistered(payload);
  if (ForPaperDialect(*reception_nbytes))
    bsp_move(area, Clamped(*reception_nbytes));
  else
    bsp_mc_move(area, Size(*reception_nbytes));
}

BSP_FORTRAN void bspcheckpointregister8_(void* data, const LongInteger* nbytes) {
  void* area = NullIfUnregistered(data);
  if (ForPaperDialect(*nbytes))
    bsp_checkpoint_register(area, Clamped(*nbytes));
  else
    bsp_mc_checkpoint_register(area, Size(*nbytes));
}
