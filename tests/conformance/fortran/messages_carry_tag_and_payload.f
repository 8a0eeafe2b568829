! Source: BSPlib 1997, Bulk Synchronous Message Passing, In Fortran
! Claim: bspsend delivers a tag and a payload to the queue of a process
!   for the next superstep; bspqsize counts messages and bytes,
!   bspgettag gives size and tag without removing, bspmove removes.
      PROGRAM queues
      INCLUDE 'fbsp.h'
      INTEGER tag(2), got(2), body(3), p, i, n, nbytes, status, seen
      CALL bspbegin(bspnprocs())
      p = bspnprocs()
      n = 2 * BSPINT
      CALL bspsettagsize(n)
      CALL expecteq(n, 0, 'tag size at first')
      CALL bspsync()
! As many words as the sender's pid says, at most 3.
      DO i = 0, p - 1
        tag(1) = bsppid()
        tag(2) = i
        body(1) = 1000 * bsppid() + i
        body(2) = -body(1)
        body(3) = 7
        CALL bspsend(i, tag, body, MOD(bsppid(), 4) * BSPINT)
        body(1) = 0
        tag(1) = -1
      END DO
      CALL bspsync()
      nbytes = 0
      DO i = 0, p - 1
        nbytes = nbytes + MOD(i, 4) * BSPINT
      END DO
      CALL bspqsize(n, status)
      CALL expecteq(n, p, 'messages')
      CALL expecteq(status, nbytes, 'bytes')
      seen = 0
      DO i = 1, p
        CALL bspgettag(status, got)
        CALL bspgettag(status, got)
        CALL expecteq(got(2), bsppid(), 'tag(2)')
        CALL expecteq(status, MOD(got(1), 4) * BSPINT, 'status')
        body(1) = 1000 * got(1) + bsppid()
        body(2) = 0
        CALL bspmove(body, BSPINT)
        CALL expecteq(body(1), 1000 * got(1) + bsppid(), 'body(1)')
        CALL expecteq(body(2), 0, 'body(2) beyond the reception area')
        seen = seen + got(1)
        CALL bspqsize(n, nbytes)
        CALL expecteq(n, p - i, 'messages left')
      END DO
      CALL expecteq(seen, p * (p - 1) / 2, 'sum of the senders')
      CALL expecteq(nbytes, 0, 'bytes left')
      got(1) = 99
      CALL bspgettag(status, got)
      CALL expecteq(status, -1, 'status of the empty queue')
      CALL expecteq(got(1), 99, 'tag of the empty queue')
      n = 0
      CALL bspsettagsize(n)
      CALL expecteq(n, 2 * BSPINT, 'tag size before')
      CALL sayok()
      CALL bspend()
      END
