! fbsp.h: BSPlib for Fortran. INCLUDE 'fbsp.h' in the specification
! part of every program unit that calls it; or USE bsp, the module.
! Reads as fixed and as free source form. See docs/fortran.md.
!
! A <TYPE> argument of the paper takes a variable of any type: scalar,
! array, array element, contiguous section. It is declared INTEGER (*)
! here, and the directives below switch off the check of type and rank
! (GCC$: gfortran, DEC$: Intel, DIR$: flang). TARGET tells the compiler
! that the library keeps the address until the next bspsync or longer.

! Bytes of the Fortran types. Compilation stops in the next line if the
! default INTEGER has not 4 bytes (-fdefault-integer-8): status,
! nmessages and the sizes would be passed in the wrong format.
      INTEGER BSPINT, BSPREAL, BSPDOUBLE, BSPCOMPLEX, BSPDCOMPLEX
      INTEGER BSPLOGICAL, BSPCHAR, BSPWORD
      PARAMETER (BSPINT = 4 / (4 / KIND(0)))
      PARAMETER (BSPREAL = KIND(1.0), BSPDOUBLE = KIND(1.0D0))
      PARAMETER (BSPCOMPLEX = 2 * BSPREAL, BSPDCOMPLEX = 2 * BSPDOUBLE)
      PARAMETER (BSPLOGICAL = KIND(.TRUE.), BSPCHAR = 1, BSPWORD = 4)

! For bsppushreg and bsppopreg: nothing is registered here. (C: NULL)
      INTEGER bspunregistered(1)
      COMMON /bspunreg/ bspunregistered

      INTERFACE

! ---- Initialisation
        SUBROUTINE bspinit(spmdproc)
          EXTERNAL spmdproc
        END SUBROUTINE
        SUBROUTINE bspbegin(maxprocs)
          INTEGER, INTENT(IN) :: maxprocs
        END SUBROUTINE
        SUBROUTINE bspend()
        END SUBROUTINE

! ---- Halt
        SUBROUTINE bspabort(err_string)
          CHARACTER(*), INTENT(IN) :: err_string
        END SUBROUTINE

! ---- Enquiry
        INTEGER FUNCTION bspnprocs()
        END FUNCTION
        INTEGER FUNCTION bsppid()
        END FUNCTION
        FUNCTION bsptime()
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bsptime
        END FUNCTION
        FUNCTION bspdtime()
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspdtime
        END FUNCTION
        FUNCTION bspcputime()
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspcputime
        END FUNCTION

! ---- Superstep
        SUBROUTINE bspsync()
        END SUBROUTINE

! ---- DRMA: registration
        SUBROUTINE bsppushreg(ident, size)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DEC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DIR$ IGNORE_TKR ident
          INTEGER, TARGET :: ident(*)
          INTEGER, INTENT(IN) :: size
        END SUBROUTINE
        SUBROUTINE bsppopreg(ident)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DEC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DIR$ IGNORE_TKR ident
          INTEGER, TARGET :: ident(*)
        END SUBROUTINE

! ---- DRMA: put and get
        SUBROUTINE bspput(pid, src, dst, offset, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: pid, offset, nbytes
          INTEGER, INTENT(IN) :: src(*)
          INTEGER, TARGET :: dst(*)
        END SUBROUTINE
        SUBROUTINE bsphpput(pid, src, dst, offset, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: pid, offset, nbytes
          INTEGER, TARGET :: src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspget(pid, src, offset, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: pid, offset, nbytes
          INTEGER, TARGET :: src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bsphpget(pid, src, offset, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: pid, offset, nbytes
          INTEGER, TARGET :: src(*), dst(*)
        END SUBROUTINE

! ---- BSMP
        SUBROUTINE bspsettagsize(tag_nbytes)
          INTEGER, INTENT(INOUT) :: tag_nbytes
        END SUBROUTINE
        SUBROUTINE bspsend(pid, tag, payload, payload_nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: tag, payload
!DEC$ ATTRIBUTES NO_ARG_CHECK :: tag, payload
!DIR$ IGNORE_TKR tag, payload
          INTEGER, INTENT(IN) :: pid, payload_nbytes
          INTEGER, INTENT(IN) :: tag(*), payload(*)
        END SUBROUTINE
        SUBROUTINE bspqsize(nmessages, accum_nbytes)
          INTEGER, INTENT(OUT) :: nmessages, accum_nbytes
        END SUBROUTINE
        SUBROUTINE bspgettag(status, tag)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: tag
!DEC$ ATTRIBUTES NO_ARG_CHECK :: tag
!DIR$ IGNORE_TKR tag
          INTEGER, INTENT(OUT) :: status
          INTEGER :: tag(*)
        END SUBROUTINE
        SUBROUTINE bspmove(payload, reception_nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: payload
!DEC$ ATTRIBUTES NO_ARG_CHECK :: payload
!DIR$ IGNORE_TKR payload
          INTEGER :: payload(*)
          INTEGER, INTENT(IN) :: reception_nbytes
        END SUBROUTINE

! ---- Collectives; op is a SUBROUTINE op(result, left, right, nbytes)
        SUBROUTINE bspbcast(root, src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: root, nbytes
          INTEGER :: src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspscatter(root, src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: root, nbytes
          INTEGER :: src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspgather(root, src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: root, nbytes
          INTEGER :: src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspexchange(src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: nbytes
          INTEGER :: src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspfold(op, src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          EXTERNAL op
          INTEGER, INTENT(IN) :: nbytes
          INTEGER :: src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspscan(op, src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          EXTERNAL op
          INTEGER, INTENT(IN) :: nbytes
          INTEGER :: src(*), dst(*)
        END SUBROUTINE

! ---- The toolset's calls for variables of a common block: reg is the
!      first one, which is registered, dst or src any other
        SUBROUTINE bspput_common(pid, src, reg, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: reg, dst, src
!DEC$ ATTRIBUTES NO_ARG_CHECK :: reg, dst, src
!DIR$ IGNORE_TKR reg, dst, src
          INTEGER, INTENT(IN) :: pid, nbytes
          INTEGER, INTENT(IN) :: src(*)
          INTEGER, TARGET :: reg(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bsphpput_common(pid, src, reg, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, reg, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, reg, dst
!DIR$ IGNORE_TKR src, reg, dst
          INTEGER, INTENT(IN) :: pid, nbytes
          INTEGER, TARGET :: src(*), reg(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspget_common(pid, reg, src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: reg, src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: reg, src, dst
!DIR$ IGNORE_TKR reg, src, dst
          INTEGER, INTENT(IN) :: pid, nbytes
          INTEGER, TARGET :: reg(*), src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bsphpget_common(pid, reg, src, dst, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: reg, src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: reg, src, dst
!DIR$ IGNORE_TKR reg, src, dst
          INTEGER, INTENT(IN) :: pid, nbytes
          INTEGER, TARGET :: reg(*), src(*), dst(*)
        END SUBROUTINE
        SUBROUTINE bspsync_number(number)
          INTEGER, INTENT(IN) :: number
        END SUBROUTINE

! ---- Checkpoints of the program's own
        SUBROUTINE bspcheckpointregister(data, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: data
!DEC$ ATTRIBUTES NO_ARG_CHECK :: data
!DIR$ IGNORE_TKR data
          INTEGER, TARGET :: data(*)
          INTEGER, INTENT(IN) :: nbytes
        END SUBROUTINE
        INTEGER FUNCTION bspcheckpointresume()
        END FUNCTION

! ---- The other spellings
        SUBROUTINE bsppushregister(ident, size)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DEC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DIR$ IGNORE_TKR ident
          INTEGER, TARGET :: ident(*)
          INTEGER, INTENT(IN) :: size
        END SUBROUTINE
        SUBROUTINE bsppopregister(ident)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DEC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DIR$ IGNORE_TKR ident
          INTEGER, TARGET :: ident(*)
        END SUBROUTINE
        SUBROUTINE bsphput(pid, src, dst, offset, nbytes)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
          INTEGER, INTENT(IN) :: pid, offset, nbytes
          INTEGER, TARGET :: src(*), dst(*)
        END SUBROUTINE
      END INTERFACE
