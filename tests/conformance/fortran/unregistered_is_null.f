! Source: BSPlib 1997, Registration, note 5 and its footnote
! Claim: A process that has nothing to register passes bspunregistered:
!   its slot is the same as that of the others, in pops too.
      PROGRAM unreg
      INCLUDE 'fbsp.h'
      INTEGER x, y
      CALL bspbegin(bspnprocs())
      x = 5
      y = 0
      IF (bsppid() .EQ. 0) THEN
        CALL bsppushreg(x, BSPINT)
      ELSE
        CALL bsppushreg(bspunregistered, 0)
      END IF
      CALL bsppushreg(y, BSPINT)
      CALL bspsync()
      IF (bsppid() .EQ. 0) CALL bspput(0, 6, x, 0, BSPINT)
      IF (bsppid() .EQ. bspnprocs() - 1) THEN
        CALL bspput(0, 7, y, 0, BSPINT)
      END IF
      CALL bspsync()
      IF (bsppid() .EQ. 0) THEN
        CALL expecteq(x, 6, 'x')
        CALL expecteq(y, 7, 'y')
        CALL bsppopreg(x)
      ELSE
        CALL expecteq(x, 5, 'x')
        CALL expecteq(y, 0, 'y')
        CALL bsppopreg(bspunregistered)
      END IF
      CALL bspsync()
      CALL bsppopreg(y)
      CALL sayok()
      CALL bspend()
      END
