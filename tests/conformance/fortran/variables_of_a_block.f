! Source: Oxford toolset, level 1, in Fortran
! Claim: In the calls for common blocks the first variable of the block,
!   which is registered, and another one of it stand for an area and an
!   offset. bspsync_number ends a superstep.
      PROGRAM common
      INCLUDE 'fbsp.h'
      INTEGER first, other(3), p, me, right, i, got(2)
      REAL weight
      DOUBLE PRECISION last, x
      COMMON /shared/ first, other, last, weight
      CALL bspbegin(bspnprocs())
      p = bspnprocs()
      me = bsppid()
      right = MOD(me + 1, p)
      first = me
      weight = 0
      last = 0
      DO i = 1, 3
        other(i) = 10 * me + i
      END DO
      x = me + 0.5D0
      CALL bsppushreg(first, 7 * BSPWORD)
      CALL bspsync_number(1)
      CALL bspput_common(right, REAL(me), first, weight, BSPREAL)
      CALL bsphpput_common(right, x, first, last, BSPDOUBLE)
      CALL bspget_common(right, first, other(2), got(1), BSPINT)
      CALL bsphpget_common(right, first, other(3), got(2), BSPINT)
      CALL bspsync_number(2)
      CALL expecteq(first, me, 'first')
      CALL expecteq(INT(weight), MOD(me + p - 1, p), 'weight')
      CALL expecteq(INT(2 * last), 2 * MOD(me + p - 1, p) + 1, 'last')
      CALL expecteq(got(1), 10 * right + 2, 'other(2)')
      CALL expecteq(got(2), 10 * right + 3, 'other(3)')
      DO i = 1, 3
        CALL expecteq(other(i), 10 * me + i, 'other')
      END DO
      CALL bsppopreg(first)
      CALL sayok()
      CALL bspend()
      END
