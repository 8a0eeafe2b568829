! Source: BSPlib 1997, Starting and finishing SPMD code, In Fortran
! Source: BSPlib 1997, Starting and finishing SPMD code, Example
! Claim: bspbegin starts as many processes as there are available; what
!   they print arrives in some order.
! Stdout: Hello BSP Worldwide from process {pid} of {p}
! Order: any
      PROGRAM hello
      INCLUDE 'fbsp.h'
      CALL bspbegin(bspnprocs())
      PRINT 10, bsppid(), bspnprocs()
 10   FORMAT ('Hello BSP Worldwide from process ', I0, ' of ', I0)
      CALL bspend()
      END
