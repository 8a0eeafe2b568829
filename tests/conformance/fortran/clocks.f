! Source: BSPlib 1997, Local wall-clock time, In Fortran
! Source: bsp.h, bsp_dtime, bsp_cputime
! Claim: bsptime gives the seconds since bspbegin, bspdtime those since
!   the last call of bspdtime, bspcputime those of the processor since
!   the process began, all as double precision.
! Procs: 1 2 4
      PROGRAM clocks
      INCLUDE 'fbsp.h'
      DOUBLE PRECISION t, t0, d, d0, c, c0, ONEMIN
      PARAMETER (ONEMIN = 60D0)
      REAL used
      INTEGER i
      DO i = 1, 1000000000
        CALL CPU_TIME(used)
        IF (used .GE. 5E-2) EXIT
      END DO
      CALL bspbegin(bspnprocs())
      t0 = bsptime()
      d0 = bspdtime()
      c0 = bspcputime()
      CALL expect(t0 .GE. 0D0 .AND. t0 .LT. ONEMIN, 'time at first')
      CALL expect(d0 .GE. t0 .AND. d0 .LT. ONEMIN, 'dtime at first')
      CALL expect(c0 .GE. 4D-2 .AND. c0 .LT. ONEMIN, 'cputime at first')
      CALL CPU_TIME(used)
      CALL expect(c0 .LE. used + 1D-2, 'cputime at most what is used')
      t = t0
      c = c0
      DO i = 1, 1000000000
        IF (t - t0 .GE. 2D-2 .AND. c - c0 .GE. 1D-3) EXIT
        t = bsptime()
        c = bspcputime()
        CALL expect(t .GE. t0 .AND. c .GE. c0, 'no clock goes back')
      END DO
      CALL expect(t - t0 .GE. 2D-2, 'time goes on')
      CALL expect(c - c0 .GE. 1D-3, 'cputime goes on')
      d = bspdtime()
      CALL expect(d .GT. 0D0, 'dtime goes on')
      d = d0 + d + bspdtime()
      t = bsptime()
      CALL expect(d .GE. t0 + 2D-2 .AND. d .LE. t, 'sum of dtime')
      CALL sayok()
      CALL bspend()
      END
