! Source: docs/fortran.md, "The routines"
! Claim: With BSP_CHECK=full an error names the lines of the Fortran program that made the calls
!   (or, without debug information, two different addresses in it).
! Procs: 2 4
! Exit: 6
! Stderr: ^bspnow: bsp_sync on pid 0, superstep 1: puts overlap
!   .*pid 0 put there at (\S*\.f90:17|\S*\+0x\w+), pid 1 at (?!\1)(\S*\.f90:18|\S*\+0x\w+);
program full_check_names_the_callers
  use bsp
  implicit none
  integer :: x(2), y(2)

  call bspbegin(bspnprocs())
  y = bsppid()
  call bsppushreg(x, 2 * BSPINT)
  call bspsync()
  if (bsppid() == 0) call bspput(0, y, x, 0, BSPINT)
  if (bsppid() == 1) call bspput(0, y, x, 0, BSPINT)
  call bspsync()
  call bspend()
end program
