! Source: BSPlib 1997, Registration, In Fortran
! Claim: bsppushreg is valid from the next superstep on and replaces the
!   older registration of the same variable until bsppopreg.
      PROGRAM shadow
      INCLUDE 'fbsp.h'
      INTEGER x(4), y, i, right
      CALL bspbegin(bspnprocs())
      right = MOD(bsppid() + 1, bspnprocs())
      DO i = 1, 4
        x(i) = 0
      END DO
      CALL bsppushreg(x, BSPINT)
      CALL bspsync()
      CALL bsppushreg(x, 4 * BSPINT)
      CALL bspput(right, 11, x, 0, BSPINT)
      CALL bspsync()
      CALL expecteq(x(1), 11, 'x(1)')
      CALL bsppopreg(x)
      CALL bspput(right, 14, x, 3 * BSPINT, BSPINT)
      CALL bspsync()
      CALL expecteq(x(4), 14, 'x(4)')
      CALL bspget(right, x, 0, y, BSPINT)
      CALL bsppopreg(x)
      CALL bspsync()
      CALL expecteq(y, 11, 'y')
      CALL sayok()
      CALL bspend()
      END
