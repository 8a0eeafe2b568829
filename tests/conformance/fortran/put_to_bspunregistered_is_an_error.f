! Source: BSPlib 1997, Registration, notes 3 and 5
! Claim: Where a process registered bspunregistered, the area counts as
!   unregistered, and communication into it is an error.
! Procs: 2 4 7 64
! Exit: 6
! Stderr: ^bspnow: bsp_put on pid 0, superstep 1: .*pid 1.*registered NULL
      PROGRAM unregp
      INCLUDE 'fbsp.h'
      INTEGER x
      CALL bspbegin(bspnprocs())
      IF (bsppid() .EQ. 0) THEN
        CALL bsppushreg(x, BSPINT)
      ELSE
        CALL bsppushreg(bspunregistered, BSPINT)
      END IF
      CALL bspsync()
      IF (bsppid() .EQ. 0) CALL bspput(1, 6, x, 0, BSPINT)
      CALL bspsync()
      CALL bspend()
      END
