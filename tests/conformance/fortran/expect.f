! How a Fortran conformance program says that something is wrong: the
! process that finds it ends the job with bspabort, exit status 6.
      SUBROUTINE expect(holds, what)
      INCLUDE 'fbsp.h'
      LOGICAL holds
      CHARACTER*(*) what
      CHARACTER*200 text
      IF (holds) RETURN
      WRITE (text, 10) bsppid(), what
 10   FORMAT ('pid ', I0, ': ', A, ' does not hold')
      CALL bspabort(text)
      END

      SUBROUTINE expecteq(got, want, what)
      INCLUDE 'fbsp.h'
      INTEGER got, want
      CHARACTER*(*) what
      CHARACTER*200 text
      IF (got .EQ. want) RETURN
      WRITE (text, 10) bsppid(), what, got, want
 10   FORMAT ('pid ', I0, ': ', A, ' is ', I0, ', not ', I0)
      CALL bspabort(text)
      END

! For the end of a program: all processes have come this far.
      SUBROUTINE sayok()
      INCLUDE 'fbsp.h'
      CALL bspsync()
      IF (bsppid() .EQ. 0) PRINT '(A)', 'ok'
      END
