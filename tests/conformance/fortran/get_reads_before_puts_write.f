! Source: BSPlib 1997, Copy from remote memory, In Fortran
! Claim: bspget gives the value at the end of the superstep, before any
!   bspput has been written.
      PROGRAM getput
      INCLUDE 'fbsp.h'
      INTEGER x(2), y, right, left
      CALL bspbegin(bspnprocs())
      right = MOD(bsppid() + 1, bspnprocs())
      left = MOD(bsppid() + bspnprocs() - 1, bspnprocs())
      x(1) = 0
      x(2) = 0
      CALL bsppushreg(x, 2 * BSPINT)
      CALL bspsync()
      CALL bspput(right, 77, x, BSPINT, BSPINT)
      CALL bspget(left, x, BSPINT, y, BSPINT)
      x(2) = 100 + bsppid()
      CALL bspsync()
      CALL expecteq(y, 100 + left, 'y')
      CALL expecteq(x(2), 77, 'x(2)')
      CALL expecteq(x(1), 0, 'x(1)')
      CALL sayok()
      CALL bspend()
      END
