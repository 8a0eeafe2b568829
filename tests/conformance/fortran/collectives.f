! Source: Oxford toolset, level 1, in Fortran
! Claim: The collective calls have Fortran names; an operation is a
!   subroutine.
      PROGRAM collec
      INCLUDE 'fbsp.h'
      INTEGER p, me, i, x, y, xs(64), ys(64)
      EXTERNAL addint
      CALL bspbegin(bspnprocs())
      p = bspnprocs()
      me = bsppid()
      x = me + 1
      CALL bspbcast(p - 1, x, y, BSPINT)
      CALL expecteq(y, p, 'bspbcast')
      CALL bspgather(0, x, xs, BSPINT)
      IF (me .EQ. 0) THEN
        DO i = 1, p
          CALL expecteq(xs(i), i, 'bspgather')
        END DO
      END IF
      CALL bspscatter(0, xs, y, BSPINT)
      CALL expecteq(y, me + 1, 'bspscatter')
      DO i = 1, p
        xs(i) = 100 * me + i
      END DO
      CALL bspexchange(xs, ys, BSPINT)
      DO i = 1, p
        CALL expecteq(ys(i), 100 * (i - 1) + me + 1, 'bspexchange')
      END DO
      CALL bspfold(addint, x, y, BSPINT)
      CALL expecteq(y, p * (p + 1) / 2, 'bspfold')
      CALL bspscan(addint, x, y, BSPINT)
      CALL expecteq(y, x * (x + 1) / 2, 'bspscan')
      CALL sayok()
      CALL bspend()
      END

      SUBROUTINE addint(sum, left, right, nbytes)
      INCLUDE 'fbsp.h'
      INTEGER sum, left, right, nbytes
      CALL expecteq(nbytes, BSPINT, 'nbytes')
      sum = left + right
      END
