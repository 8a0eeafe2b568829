! Source: BSPlib 1997, Registration, notes 3 and 7
! Source: BSPlib 1997, Copy to remote memory, notes 1 and 3
! Claim: Wrong arguments of the Fortran routines are named as those of
!   the C calls are.
! Cases: pid size nbytes offset register bounds payload tag empty pop null notag
! Procs: 1 4
! Exit: 6
! Stderr if case == "pid": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
!   .*pid {p} is outside 0\.\.{p - 1}
! Stderr if case == "size": ^bspnow: bsp_push_reg on pid {p - 1}, superstep 1:
!   .*size is -4
! Stderr if case == "nbytes": ^bspnow: bsp_hpget on pid {p - 1}, superstep 1:
!   .*nbytes is -4
! Stderr if case == "offset": ^bspnow: bsp_get on pid {p - 1}, superstep 1:
!   .*offset is -4
! Stderr if case == "register": ^bspnow: bsp_hpput on pid {p - 1}, superstep 1:
!   .*is not registered
! Stderr if case == "bounds": ^bspnow: bsp_get on pid {p - 1}, superstep 1:
!   .*offset 8 \+ 8 bytes is beyond the 12 bytes registered
! Stderr if case == "payload": ^bspnow: bsp_send on pid {p - 1}, superstep 1:
!   .*payload_nbytes is -4
! Stderr if case == "tag": ^bspnow: bsp_set_tagsize on pid {p - 1}, superstep 1:
!   .*tag_nbytes is -4
! Stderr if case == "empty": ^bspnow: bsp_move on pid {p - 1}, superstep 1:
!   .*queue is empty
! Stderr if case == "pop": ^bspnow: bsp_pop_reg on pid {p - 1}, superstep 1:
!   .*is not registered
! Stderr if case == "null": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
!   .*dst is NULL, which is not registered
! Stderr if case == "notag": ^bspnow: bsp_get_tag on pid {p - 1}, superstep 2:
!   .*tag is NULL
      PROGRAM wrong
      INCLUDE 'fbsp.h'
      INTEGER x(3), y(2), n
      CHARACTER*10 which
      CALL bspbegin(bspnprocs())
      CALL GET_COMMAND_ARGUMENT(1, which)
      y(1) = 1
      y(2) = 2
      n = -4
      CALL bsppushreg(x, 3 * BSPINT)
      IF (which .EQ. 'notag') THEN
        n = BSPINT
        CALL bspsettagsize(n)
        CALL bspsync()
        CALL bspsend(bsppid(), y, y, BSPINT)
      END IF
      CALL bspsync()
      IF (bsppid() .EQ. bspnprocs() - 1) THEN
        IF (which .EQ. 'pid') THEN
          CALL bspput(bspnprocs(), y, x, 0, BSPINT)
        ELSE IF (which .EQ. 'size') THEN
          CALL bsppushreg(y, n)
        ELSE IF (which .EQ. 'nbytes') THEN
          CALL bsphpget(0, x, 0, y, n)
        ELSE IF (which .EQ. 'offset') THEN
          CALL bspget(0, x, n, y, BSPINT)
        ELSE IF (which .EQ. 'register') THEN
          CALL bsphpput(0, x, y, 0, BSPINT)
        ELSE IF (which .EQ. 'bounds') THEN
          CALL bspget(0, x, 8, y, 8)
        ELSE IF (which .EQ. 'payload') THEN
          CALL bspsend(0, y, y, n)
        ELSE IF (which .EQ. 'tag') THEN
          CALL bspsettagsize(n)
        ELSE IF (which .EQ. 'empty') THEN
          CALL bspmove(y, BSPINT)
        ELSE IF (which .EQ. 'pop') THEN
          CALL bsppopreg(y)
        ELSE IF (which .EQ. 'null') THEN
          CALL bspput(0, y, bspunregistered, 0, BSPINT)
        ELSE IF (which .EQ. 'notag') THEN
          CALL bspgettag(n, bspunregistered)
        END IF
      END IF
      CALL bspsync()
      CALL bspend()
      END
