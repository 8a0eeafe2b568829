! Source: semantics, output, statement 1
! Claim: A line leaves its process when it is printed: it is shown
!   although nobody flushed it and the job ends by an error.
! Exit: 6
! Stdout: line {pid}
! Order: any
! Stderr: ^halt$
      PROGRAM prints
      INCLUDE 'fbsp.h'
      CALL bspbegin(bspnprocs())
      PRINT '(A,I0)', 'line ', bsppid()
      CALL bspsync()
      IF (bsppid() .EQ. bspnprocs() - 1) CALL bspabort('halt')
      CALL bspsync()
      CALL bspend()
      END
