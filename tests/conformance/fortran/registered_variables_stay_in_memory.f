! Source: docs/fortran.md, "What the compiler may not know"
! Claim: A communication changes local variables and dummy arguments
!   that the calls between issue and bspsync do not mention, also when
!   the optimiser could keep their values in registers.
      PROGRAM memory
      INCLUDE 'fbsp.h'
      INTEGER z(4), i
      CALL bspbegin(bspnprocs())
      DO i = 1, 4
        z(i) = 0
      END DO
      CALL locals()
      CALL bsppushreg(z, 4 * BSPINT)
      CALL bspsync()
      CALL bspput(bsppid(), 9, z, BSPINT, BSPINT)
      CALL dummy(z)
      CALL sayok()
      CALL bspend()
      END

! Registered and written by the caller: only bspsync is called here.
      SUBROUTINE dummy(a)
      INCLUDE 'fbsp.h'
      INTEGER a(4)
      a(2) = 3
      CALL bspsync()
      CALL expecteq(a(2), 9, 'a(2)')
      END

      RECURSIVE SUBROUTINE locals()
      INCLUDE 'fbsp.h'
      INTEGER x, y, me
      me = bsppid()
      x = 1
      CALL bsppushreg(x, BSPINT)
      CALL bspsync()
      x = 41
      y = 7
      CALL bspput(me, y, x, 0, BSPINT)
      y = 8
      CALL bspsync()
      CALL expecteq(x, 7, 'x after bspput')
      CALL bspget(me, x, 0, y, BSPINT)
      y = 0
      CALL bspsync()
      CALL expecteq(y, 7, 'y after bspget')
      y = 3
      CALL bsphpput(me, y, x, 0, BSPINT)
      CALL bspsync()
      CALL expecteq(x, 3, 'x after bsphpput')
      x = 99
      CALL bsphpget(me, x, 0, y, BSPINT)
      CALL bspsync()
      CALL expecteq(y, 99, 'y after bsphpget')
      CALL bsppopreg(x)
      CALL bspsync()
      END
