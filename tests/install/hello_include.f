C     hello.c with the header, in fixed form.
      PROGRAM HELLO
      IMPLICIT NONE
      INCLUDE 'fbsp.h'
      INTEGER PID, P
      INTEGER, TARGET :: LEFT
      CALL BSPBEGIN(BSPNPROCS())
      PID = BSPPID()
      P = BSPNPROCS()
      LEFT = -1
      CALL BSPPUSHREG(LEFT, BSPINT)
      CALL BSPSYNC()
      CALL BSPPUT(MOD(PID + 1, P), PID, LEFT, 0, BSPINT)
      CALL BSPSYNC()
      PRINT '(I0, A, I0, A, I0)', PID, ' of ', P, ', left ', LEFT
      CALL BSPEND()
      END
