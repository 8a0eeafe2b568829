! Source: BSPlib 1997, Copy to remote memory, In Fortran
! Claim: bspput reads its source when it is called and writes at the end
!   of the superstep; pid and offset count from zero.
      PROGRAM buffrd
      INCLUDE 'fbsp.h'
      INTEGER x(0:2), y, right, left
      CALL bspbegin(bspnprocs())
      right = MOD(bsppid() + 1, bspnprocs())
      left = MOD(bsppid() + bspnprocs() - 1, bspnprocs())
      x(0) = -1
      x(1) = -2
      x(2) = -3
      CALL bsppushreg(x, 3 * BSPINT)
      CALL bspsync()
      y = 10 * bsppid()
      CALL bspput(right, y, x, 0, BSPINT)
      y = y + 1
      CALL bspput(right, y, x, 2 * BSPINT, BSPINT)
      y = -9
      CALL expecteq(x(0), -1, 'x(0) before bspsync')
      CALL bspsync()
      CALL expecteq(x(0), 10 * left, 'x(0)')
      CALL expecteq(x(1), -2, 'x(1)')
      CALL expecteq(x(2), 10 * left + 1, 'x(2)')
      CALL expecteq(y, -9, 'y')
      CALL sayok()
      CALL bspend()
      END
