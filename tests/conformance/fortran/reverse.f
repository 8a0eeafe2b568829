! Source: BSPlib 1997, Copy to remote memory, Example 1, put in Fortran
! Claim: The result of reverse on process i is the value of the
!   parameter x from process bspnprocs() - i - 1.
      PROGRAM revers
      INCLUDE 'fbsp.h'
      INTEGER x, p
      CALL bspbegin(bspnprocs())
      p = bspnprocs()
      x = 1000 + bsppid()
      CALL flip(x)
      CALL expecteq(x, 1000 + p - 1 - bsppid(), 'x')
      CALL sayok()
      CALL bspend()
      END

      SUBROUTINE flip(x)
      INCLUDE 'fbsp.h'
      INTEGER x
      CALL bsppushreg(x, BSPINT)
      CALL bspsync()
      CALL bspput(bspnprocs() - bsppid() - 1, x, x, 0, BSPINT)
      CALL bspsync()
      CALL bsppopreg(x)
      END
