! Source: bsp.h, bsp_checkpoint_register, bsp_checkpoint_resume
! Claim: bspcheckpointregister takes a variable of any type, and a
!   process without one registers bspunregistered; in a job that starts
!   anew bspcheckpointresume is 0 and leaves the areas alone.
! Procs: 1 2 4
      PROGRAM areas
      INCLUDE 'fbsp.h'
      DOUBLE PRECISION x(10)
      CHARACTER*8 name
      INTEGER step
      CALL bspbegin(bspnprocs())
      step = 3
      x = 1.5D0
      name = 'unsaved'
      CALL bspcheckpointregister(step, BSPINT)
      CALL bspcheckpointregister(x, 10 * BSPDOUBLE)
      CALL bspcheckpointregister(name, 8)
      CALL bspcheckpointregister(bspunregistered, 0)
      CALL expect(bspcheckpointresume() .EQ. 0, 'starts anew')
      CALL expect(step .EQ. 3 .AND. ALL(x .EQ. 1.5D0), 'as it was')
      CALL expect(name .EQ. 'unsaved', 'text as it was')
      CALL bspsync()
      CALL sayok()
      CALL bspend()
      END
