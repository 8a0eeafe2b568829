! Source: BSPlib 1997, Starting and finishing SPMD code, In Fortran
! Source: BSPlib 1997, Enquiry, Number of processes, In Fortran
! Claim: bspnprocs gives the processors available before bspbegin and the
!   number of processes after it, here fewer; only they go on.
! Stdout if pid < (p + 1) // 2: {pid} of {(p + 1) // 2}, {p} available
! Order: any
      PROGRAM atmost
      INCLUDE 'fbsp.h'
      INTEGER there
      there = bspnprocs()
      CALL bspbegin((there + 1) / 2)
      PRINT 10, bsppid(), bspnprocs(), there
 10   FORMAT (I0, ' of ', I0, ', ', I0, ' available')
      CALL bspend()
      END
