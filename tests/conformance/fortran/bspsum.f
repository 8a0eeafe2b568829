! Source: bsp_get(3), Examples, 2, in Fortran
! Claim: The result of bspsum on all the processes is the sum of all the
!   arrays from all the processes (the function is as printed there,
!   for at most 40 processes).
! Procs: 1 2 4 7 40
      PROGRAM summed
      INCLUDE 'fbsp.h'
      INTEGER bspsum
      EXTERNAL bspsum
      INTEGER xs(40), i, p, want
      CALL bspbegin(bspnprocs())
      p = bspnprocs()
      DO i = 1, bsppid()
        xs(i) = 100 * bsppid() + i
      END DO
      want = 0
      DO i = 0, p - 1
        want = want + 100 * i * i + i * (i + 1) / 2
      END DO
      CALL expecteq(bspsum(xs, bsppid()), want, 'bspsum')
      CALL sayok()
      CALL bspend()
      END

      INTEGER FUNCTION bspsum(xs,nelem)
      INCLUDE 'fbsp.h'
      INTEGER xs(*),nelem,MAXPROCS
      PARAMETER (MAXPROCS=40)
      INTEGER i,j,result,localsums(MAXPROCS)
      result=0
      DO j=1,nelem
        result = result + xs(j)
      END DO
      CALL bsppushreg(result,BSPINT)
      CALL bspsync()
      DO i=0,bspnprocs()-1
        CALL bsphpget(i,result,0,localsums(i+1),BSPINT)
      END DO
      CALL bspsync()
      result=0
      DO i=1,bspnprocs()
        result=result+localsums(i)
      END DO
      CALL bsppopreg(result)
      bspsum=result
      END
