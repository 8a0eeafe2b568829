! Source: BSPlib 1997, Copy to remote memory, In Fortran
! Source: BSPlib 1997, Copy from remote memory, In Fortran
! Source: BSPlib 1997, Library Contents, High Performance
! Claim: bsphpput (also bsphput) and bsphpget have transferred large and
!   small areas by the end of the superstep.
      PROGRAM hpboth
      INCLUDE 'fbsp.h'
      INTEGER N
      PARAMETER (N = 40000)
      DOUBLE PRECISION a(N), b(N), c(N)
      INTEGER small, s, i, right, left
      CALL bspbegin(bspnprocs())
      right = MOD(bsppid() + 1, bspnprocs())
      left = MOD(bsppid() + bspnprocs() - 1, bspnprocs())
      DO i = 1, N
        a(i) = 1D5 * bsppid() + i
        b(i) = 0D0
        c(i) = 0D0
      END DO
      small = 0
      s = bsppid()
      CALL bsppushregister(a, N * BSPDOUBLE)
      CALL bsppushreg(b, N * BSPDOUBLE)
      CALL bsppushreg(small, BSPINT)
      CALL bspsync()
      CALL bsphpput(right, a, b, 0, (N - 1) * BSPDOUBLE)
      CALL bsphput(right, s, small, 0, BSPINT)
      CALL bsphpget(right, a, BSPDOUBLE, c, (N - 1) * BSPDOUBLE)
      CALL bspsync()
      DO i = 1, N - 1
        CALL expect(b(i) .EQ. 1D5 * left + i, 'b(i)')
        CALL expect(c(i) .EQ. 1D5 * right + i + 1, 'c(i)')
      END DO
      CALL expect(b(N) .EQ. 0D0 .AND. c(N) .EQ. 0D0, 'b(N), c(N)')
      CALL expecteq(small, left, 'small')
      CALL bsppopregister(a)
      CALL sayok()
      CALL bspend()
      END
