! Source: docs/fortran.md
! Claim: bspinit takes no argc and argv: GET_COMMAND_ARGUMENT gives the
!   arguments on every process.
! Args: one 'two words'
! Stdout: {pid}: one, two words
! Order: any
      PROGRAM args
      INCLUDE 'fbsp.h'
      EXTERNAL spmdpt
      CALL bspinit(spmdpt)
      CALL spmdpt()
      END

      SUBROUTINE spmdpt()
      INCLUDE 'fbsp.h'
      CHARACTER*20 first, second
      CALL bspbegin(bspnprocs())
      CALL GET_COMMAND_ARGUMENT(1, first)
      CALL GET_COMMAND_ARGUMENT(2, second)
      PRINT 10, bsppid(), TRIM(first), TRIM(second)
 10   FORMAT (I0, ': ', A, ', ', A)
      CALL bspend()
      END
