! Source: docs/fortran.md, "Past 2 GiB"
! Claim: Wrong INTEGER(8) arguments are errors with the values that were given.
! Cases: size put hpput get hpget send tag move bounds far
! Procs: 1 4
! Exit: 6
! Stderr if case == "size": ^bspnow: bsp_push_reg on pid {p - 1}, superstep 1: .*size is -4
! Stderr if case == "put": ^bspnow: bsp_put on pid {p - 1}, superstep 1: .*nbytes is -4
! Stderr if case == "hpput": ^bspnow: bsp_hpput on pid {p - 1}, superstep 1: .*offset is -4
! Stderr if case == "get": ^bspnow: bsp_get on pid {p - 1}, superstep 1: .*pid -1 is outside
! Stderr if case == "hpget": ^bspnow: bsp_hpget on pid {p - 1}, superstep 1: .*nbytes is -4
! Stderr if case == "send": ^bspnow: bsp_send on pid {p - 1}, superstep 1: .*payload_nbytes is -4
! Stderr if case == "tag": ^bspnow: bsp_set_tagsize on pid {p - 1}, superstep 1: .*tag_nbytes is -4
! Stderr if case == "move": ^bspnow: bsp_move on pid {p - 1}, superstep 1: .*reception_nbytes is -4
! Stderr if case == "bounds": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
!   .*offset 4294967296 \+ 8 bytes is beyond the 12 bytes registered
! Stderr if case == "far": ^bspnow: bsp_get on pid {p - 1}, superstep 1:
!   .*offset 4294967296 \+ 8 bytes is beyond the 12 bytes registered
program wrong_long_arguments_are_errors
  use bsp
  use iso_fortran_env, only: int64
  implicit none
  integer(int64), parameter :: zero = 0, eight = 8, far = 2_int64**32
  integer(int64) :: minus = -4
  integer :: x(3), y(2)
  character(len=10) :: which

  call bspbegin(bspnprocs())
  call get_command_argument(1, which)
  y = 0
  call bsppushreg(x, 12_int64)
  call bspsync()
  if (bsppid() == bspnprocs() - 1) then
    select case (which)
    case ('size');   call bsppushreg(y, minus)
    case ('put');    call bspput(0, y, x, far, minus)
    case ('hpput');  call bsphpput(0, y, x, minus, eight)
    case ('get');    call bspget(-1, x, far, y, eight)
    case ('hpget');  call bsphpget(0, x, zero, y, minus)
    case ('send');   call bspsend(0, y, y, minus)
    case ('tag');    call bspsettagsize(minus)
    case ('move');   call bspmove(y, minus)
    case ('bounds'); call bspput(0, y, x, far, eight)
    case ('far');    call bspget(0, x, far, y, eight)
    end select
  end if
  call bspsync()
  call bspend()
end program
