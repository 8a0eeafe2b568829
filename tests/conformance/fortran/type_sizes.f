! Source: bsp_get(3), Examples, 1, in Fortran
! Claim: BSPINT is the size of an INTEGER in bytes, and so on for the
!   other types.
! Procs: 1
      PROGRAM sizes
      INCLUDE 'fbsp.h'
      INTEGER i
      REAL r
      DOUBLE PRECISION d
      COMPLEX c
      COMPLEX*16 z
      LOGICAL l
      CHARACTER k
      CALL bspbegin(1)
      i = 0
      r = 0
      d = 0
      c = 0
      z = 0
      l = .TRUE.
      k = ' '
      CALL expecteq(BSPINT, STORAGE_SIZE(i) / 8, 'BSPINT')
      CALL expecteq(BSPREAL, STORAGE_SIZE(r) / 8, 'BSPREAL')
      CALL expecteq(BSPDOUBLE, STORAGE_SIZE(d) / 8, 'BSPDOUBLE')
      CALL expecteq(BSPCOMPLEX, STORAGE_SIZE(c) / 8, 'BSPCOMPLEX')
      CALL expecteq(BSPDCOMPLEX, STORAGE_SIZE(z) / 8, 'BSPDCOMPLEX')
      CALL expecteq(BSPLOGICAL, STORAGE_SIZE(l) / 8, 'BSPLOGICAL')
      CALL expecteq(BSPCHAR, STORAGE_SIZE(k) / 8, 'BSPCHAR')
      CALL expecteq(BSPINT, 4, 'an INTEGER is an int of C')
      CALL sayok()
      CALL bspend()
      END
