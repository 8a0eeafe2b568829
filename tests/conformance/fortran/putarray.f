! Source: BSPlib 1997, Copy to remote memory, Example 2, put in Fortran
! Claim: putarray is the concurrent assignment
!   forall i in {0,..,n-1} xs[xs[i]] := xs[i].
      PROGRAM putarr
      INCLUDE 'fbsp.h'
      INTEGER EACH
      PARAMETER (EACH = 5)
      INTEGER xs(EACH), i, n
      CALL bspbegin(bspnprocs())
      n = EACH * bspnprocs()
      DO i = 1, EACH
        xs(i) = n - (EACH * bsppid() + i)
      END DO
      CALL putarray(xs, n)
      DO i = 1, EACH
        CALL expecteq(xs(i), EACH * bsppid() + i - 1, 'xs(i)')
      END DO
      CALL sayok()
      CALL bspend()
      END

      SUBROUTINE putarray(xs, n)
      INCLUDE 'fbsp.h'
      INTEGER xs(*), n, i, pid, localidx, noverp
      noverp = n / bspnprocs()
      IF (MOD(n, bspnprocs()) .NE. 0) THEN
        CALL bspabort('N not divisible by p')
      END IF
      CALL bsppushreg(xs, noverp * BSPINT)
      CALL bspsync()
      DO i = 1, noverp
        pid = xs(i) / noverp
        localidx = MOD(xs(i), noverp)
        CALL bspput(pid, xs(i), xs, localidx * BSPINT, BSPINT)
      END DO
      CALL bspsync()
      CALL bsppopreg(xs)
      END
