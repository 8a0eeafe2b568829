! Source: BSPlib 1997, Superstep, In Fortran
! Source: BSPlib 1997, Superstep, Example
! Claim: bspsync ends a superstep: process i prints in superstep i (the
!   order of the lines is not guaranteed for all that).
! Stdout: Hello BSP Worldwide from process {pid} of {p}
! Order: any
      PROGRAM hturn
      INCLUDE 'fbsp.h'
      INTEGER i
      CALL bspbegin(bspnprocs())
      DO i = 0, bspnprocs() - 1
        IF (bsppid() .EQ. i) PRINT 10, i, bspnprocs()
        FLUSH (6)
        CALL bspsync()
      END DO
 10   FORMAT ('Hello BSP Worldwide from process ', I0, ' of ', I0)
      CALL bspend()
      END
