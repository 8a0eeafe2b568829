! Source: Oxford toolset, level 1, in Fortran
! Claim: The reductions, prefixes and sorts of numbers have Fortran
!   names, and so have the parameters of the machine.
      PROGRAM reduce
      INCLUDE 'fbsp.h'
      INCLUDE 'fbsp_level1.h'
      INTEGER p, me, last
      CALL bspbegin(bspnprocs())
      p = bspnprocs()
      me = bsppid()
      last = p - 1
      CALL expecteq(bspall(1), 1, 'bspall')
      CALL expecteq(bspall(me), 0, 'bspall, 0 on process 0')
      CALL expecteq(bspany(0), 0, 'bspany')
      CALL expecteq(bspany(me + 1 - p), MIN(last, 1), 'bspany of some')
      CALL expecteq(bspconstanti(7), 1, 'bspconstanti')
      CALL expecteq(bspconstanti(me), 1 - MIN(last, 1), 'constanti')
      CALL expecteq(bspsorti(-me), me - last, 'bspsorti')
      CALL expecteq(INT(bspsortr(REAL(-me))), me - last, 'bspsortr')
      CALL expecteq(INT(bspsortd(DBLE(-me))), me - last, 'bspsortd')
      CALL expecteq(bspsumi(me), p * last / 2, 'bspsumi')
      CALL expecteq(INT(bspsumr(me + 0.5)), p * p / 2, 'bspsumr')
      CALL expecteq(INT(2 * bspsumd(me + 0.5D0)), p * p, 'bspsumd')
      CALL expecteq(bspsumi_prefix(1), me + 1, 'bspsumi_prefix')
      CALL expecteq(INT(bspsumr_prefix(2.0)), 2 * me + 2, '..r_prefix')
      CALL expecteq(INT(bspsumd_prefix(3.0D0)), 3 * me + 3, 'd_prefix')
      CALL expecteq(bspmini(-me), -last, 'bspmini')
      CALL expecteq(INT(bspminr(REAL(me - 9))), -9, 'bspminr')
      CALL expecteq(INT(bspmind(DBLE(-me))), -last, 'bspmind')
      CALL expecteq(bspmini_prefix(-me), -me, 'bspmini_prefix')
      CALL expecteq(INT(bspminr_prefix(REAL(me))), 0, 'minr_prefix')
      CALL expecteq(INT(bspmind_prefix(DBLE(-me))), -me, 'd_prefix')
      CALL expecteq(bspmaxi(me), last, 'bspmaxi')
      CALL expecteq(INT(bspmaxr(REAL(-me))), 0, 'bspmaxr')
      CALL expecteq(INT(bspmaxd(DBLE(me))), last, 'bspmaxd')
      CALL expecteq(bspmaxi_prefix(-me), 0, 'bspmaxi_prefix')
      CALL expecteq(INT(bspmaxr_prefix(REAL(me))), me, 'maxr_prefix')
      CALL expecteq(INT(bspmaxd_prefix(DBLE(me))), me, 'maxd_prefix')
      CALL products(p, me)
      CALL expecteq(MIN(bspnhalf(), 0), 0, 'bspnhalf')
      CALL expect(bsps() .GT. 0, 'bsps() > 0')
      CALL expect(bspg() .GT. 0, 'bspg() > 0')
      CALL expect(bspl() .GT. 0, 'bspl() > 0')
      CALL sayok()
      CALL bspend()
      END

! Of one factor for each process, which is 1 but on two of them.
      SUBROUTINE products(p, me)
      INCLUDE 'fbsp.h'
      INCLUDE 'fbsp_level1.h'
      INTEGER p, me, x, before, all
      x = 1
      IF (me .EQ. 0) x = 3
      IF (me .EQ. p - 1) x = x * 5
      all = 15
      before = 3
      IF (me .EQ. p - 1) before = all
      CALL expecteq(bspproducti(x), all, 'bspproducti')
      CALL expecteq(INT(bspproductr(REAL(x))), all, 'bspproductr')
      CALL expecteq(INT(bspproductd(DBLE(x))), all, 'bspproductd')
      CALL expecteq(bspproducti_prefix(x), before, 'producti_prefix')
      CALL expecteq(INT(bspproductr_prefix(REAL(x))), before, 'r')
      CALL expecteq(INT(bspproductd_prefix(DBLE(x))), before, 'd')
      END
