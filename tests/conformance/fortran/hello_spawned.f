! Source: BSPlib 1997, Simulating dynamic processes, In Fortran
! Source: BSPlib 1997, Simulating dynamic processes, Example
! Claim: bspinit makes the procedure that it names the SPMD part of a
!   program that one process begins, and after bspend ends alone.
! Stdin: {(p + 1) // 2}
! Stdout: One process reads {(p + 1) // 2}
! Stdout if pid < (p + 1) // 2: Hello BSP Worldwide from process {pid} of {(p + 1) // 2}
! Stdout: One process goes on
! Order: any
      PROGRAM spawn
      INCLUDE 'fbsp.h'
      EXTERNAL spmdpt
      INTEGER nprocs
      COMMON /global/ nprocs
      CALL bspinit(spmdpt)
      READ *, nprocs
      PRINT 10, nprocs
 10   FORMAT ('One process reads ', I0)
      CALL spmdpt()
      PRINT '(A)', 'One process goes on'
      END

      SUBROUTINE spmdpt()
      INCLUDE 'fbsp.h'
      INTEGER nprocs
      COMMON /global/ nprocs
      CALL bspbegin(nprocs)
      PRINT 10, bsppid(), bspnprocs()
 10   FORMAT ('Hello BSP Worldwide from process ', I0, ' of ', I0)
      CALL bspend()
      END
