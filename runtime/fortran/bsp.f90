! bsp.f90: the module bsp, BSPlib for Fortran 90 and later. See docs/fortran.md.
!
! What fbsp.h and fbsp_level1.h declare, and each routine that takes a size once more with INTEGER(8) sizes and
! offsets, for areas and transfers past 2 GiB, under the same generic name; but for the collective
! calls (bspbcast and so on), which move less than 2 GiB each. All sizes and offsets of one call are
! of one kind; pids and counts are INTEGER. There is no code in this module: a
! program needs bsp.mod to compile and nothing but libbsp to link. A bsp.mod serves one compiler;
! for another one, compile this file with it, beside those two.

module bsp
  include 'fbsp.h'
  include 'fbsp_level1.h'

  integer, parameter, private :: long = selected_int_kind(18)

  interface bsppushreg
    procedure bsppushreg
    subroutine bsppushreg8(ident, size)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DEC$ ATTRIBUTES NO_ARG_CHECK :: ident
!DIR$ IGNORE_TKR ident
      integer, target :: ident(*)
      integer(long), intent(in) :: size
    end subroutine
  end interface

  interface bsppushregister
    procedure bsppushregister, bsppushreg8
  end interface

  interface bspput
    procedure bspput
    subroutine bspput8(pid, src, dst, offset, nbytes)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
      integer, intent(in) :: pid
      integer, intent(in) :: src(*)
      integer, target :: dst(*)
      integer(long), intent(in) :: offset, nbytes
    end subroutine
  end interface

  interface bsphpput
    procedure bsphpput
    subroutine bsphpput8(pid, src, dst, offset, nbytes)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
      integer, intent(in) :: pid
      integer, target :: src(*), dst(*)
      integer(long), intent(in) :: offset, nbytes
    end subroutine
  end interface

  interface bsphput
    procedure bsphput, bsphpput8
  end interface

  interface bspget
    procedure bspget
    subroutine bspget8(pid, src, offset, dst, nbytes)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
      integer, intent(in) :: pid
      integer, target :: src(*), dst(*)
      integer(long), intent(in) :: offset, nbytes
    end subroutine
  end interface

  interface bsphpget
    procedure bsphpget
    subroutine bsphpget8(pid, src, offset, dst, nbytes)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DEC$ ATTRIBUTES NO_ARG_CHECK :: src, dst
!DIR$ IGNORE_TKR src, dst
      integer, intent(in) :: pid
      integer, target :: src(*), dst(*)
      integer(long), intent(in) :: offset, nbytes
    end subroutine
  end interface

  interface bspsettagsize
    procedure bspsettagsize
    subroutine bspsettagsize8(tag_nbytes)
      import :: long
      integer(long), intent(inout) :: tag_nbytes
    end subroutine
  end interface

  interface bspsend
    procedure bspsend
    subroutine bspsend8(pid, tag, payload, payload_nbytes)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: tag, payload
!DEC$ ATTRIBUTES NO_ARG_CHECK :: tag, payload
!DIR$ IGNORE_TKR tag, payload
      integer, intent(in) :: pid
      integer, intent(in) :: tag(*), payload(*)
      integer(long), intent(in) :: payload_nbytes
    end subroutine
  end interface

  interface bspqsize
    procedure bspqsize
    subroutine bspqsize8(nmessages, accum_nbytes)
      import :: long
      integer, intent(out) :: nmessages
      integer(long), intent(out) :: accum_nbytes
    end subroutine
  end interface

  interface bspgettag
    procedure bspgettag
    subroutine bspgettag8(status, tag)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: tag
!DEC$ ATTRIBUTES NO_ARG_CHECK :: tag
!DIR$ IGNORE_TKR tag
      integer(long), intent(out) :: status
      integer :: tag(*)
    end subroutine
  end interface

  interface bspmove
    procedure bspmove
    subroutine bspmove8(payload, reception_nbytes)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: payload
!DEC$ ATTRIBUTES NO_ARG_CHECK :: payload
!DIR$ IGNORE_TKR payload
      integer :: payload(*)
      integer(long), intent(in) :: reception_nbytes
    end subroutine
  end interface

  interface bspcheckpointregister
    procedure bspcheckpointregister
    subroutine bspcheckpointregister8(data, nbytes)
      import :: long
!GCC$ ATTRIBUTES NO_ARG_CHECK :: data
!DEC$ ATTRIBUTES NO_ARG_CHECK :: data
!DIR$ IGNORE_TKR data
      integer, target :: data(*)
      integer(long), intent(in) :: nbytes
    end subroutine
  end interface

  private :: bsppushreg8, bspput8, bsphpput8, bspget8, bsphpget8
  private :: bspsettagsize8, bspsend8, bspqsize8, bspgettag8, bspmove8
  private :: bspcheckpointregister8
end module bsp
