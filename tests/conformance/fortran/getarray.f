! Source: bsp_get(3), Examples, 1, in Fortran
! Claim: getarray is the concurrent assignment
!   forall i in {0,..,n-1} xs[i] := xs[xs[i]] (the subroutine is
!   as printed there).
      PROGRAM getarr
      INCLUDE 'fbsp.h'
      INTEGER EACH
      PARAMETER (EACH = 5)
      INTEGER xs(EACH), i, n, g
      CALL bspbegin(bspnprocs())
      n = EACH * bspnprocs()
      DO i = 1, EACH
        g = EACH * bsppid() + i - 1
        xs(i) = MOD(7 * g + 3, n)
      END DO
      CALL getarray(xs, n)
      DO i = 1, EACH
        g = EACH * bsppid() + i - 1
        g = MOD(7 * g + 3, n)
        CALL expecteq(xs(i), MOD(7 * g + 3, n), 'xs(i)')
      END DO
      CALL sayok()
      CALL bspend()
      END

      SUBROUTINE getarray(xs,n)
      INCLUDE 'fbsp.h'
      INTEGER xs(*),n
      INTEGER i,pid,localidx,noverp
      noverp=n/bspnprocs()
      IF (MOD(n,bspnprocs()) .NE. 0) THEN
        CALL bspabort('N not divisible by p')
      END IF
      CALL bsppushreg(xs,noverp*BSPINT)
      CALL bspsync()
      DO i=1,noverp
        pid = xs(i)/noverp
        localidx = MOD(xs(i),noverp)
        CALL bspget(pid,xs,localidx*BSPINT,xs(i),BSPINT)
      END DO
      CALL bspsync()
      CALL bsppopreg(xs)
      END
