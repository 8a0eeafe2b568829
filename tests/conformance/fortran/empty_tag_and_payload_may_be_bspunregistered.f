! Source: BSPlib 1997, Send to remote queue, notes 2 and 3
! Claim: Without a tag and a payload bspunregistered may stand for them;
!   a message that contains neither is sent.
      PROGRAM empty
      INCLUDE 'fbsp.h'
      INTEGER i, n, nbytes, status
      CALL bspbegin(bspnprocs())
      DO i = 0, bspnprocs() - 1
        CALL bspsend(i, bspunregistered, bspunregistered, 0)
      END DO
      CALL bspsync()
      CALL bspqsize(n, nbytes)
      CALL expecteq(n, bspnprocs(), 'messages')
      CALL expecteq(nbytes, 0, 'bytes')
      DO i = 1, n
        CALL bspgettag(status, bspunregistered)
        CALL expecteq(status, 0, 'status')
        CALL bspmove(bspunregistered, 0)
      END DO
      CALL bspgettag(status, bspunregistered)
      CALL expecteq(status, -1, 'status of the empty queue')
      CALL sayok()
      CALL bspend()
      END
