! Source: BSPlib 1997, Registration, In Fortran
! Claim: After bsppopreg the bounds are those of the older registration
!   again; a put beyond them is an error.
! Exit: 6
! Stderr: ^bspnow: bsp_put on pid {p - 1}, superstep 2:
!   .*offset 4 \+ 4 bytes is beyond the 4 bytes registered
      PROGRAM bounds
      INCLUDE 'fbsp.h'
      INTEGER x(4)
      CALL bspbegin(bspnprocs())
      CALL bsppushreg(x, BSPINT)
      CALL bsppushreg(x, 4 * BSPINT)
      CALL bspsync()
      CALL bsppopreg(x)
      CALL bspput(0, 1, x, BSPINT, BSPINT)
      CALL bspsync()
      IF (bsppid() .EQ. bspnprocs() - 1) THEN
        CALL bspput(0, 1, x, BSPINT, BSPINT)
      END IF
      CALL bspsync()
      CALL bspend()
      END
