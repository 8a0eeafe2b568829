! Source: BSPlib 1997, One process stops all, In Fortran
! Claim: bspabort prints its string as it is, no format, without the
!   blanks at its end, and stops all processes, without a barrier.
! Exit: 6
! Stderr: ^  100% of %d %s%n \\n 'end'$
      PROGRAM aborts
      INCLUDE 'fbsp.h'
      CHARACTER*80 text
      CALL bspbegin(bspnprocs())
      text = '  100% of %d %s%n \n ''end'''
      IF (bsppid() .EQ. bspnprocs() - 1) CALL bspabort(text)
      CALL bspsync()
      PRINT '(A)', 'never'
      CALL bspend()
      END
