! fbsp_level1.h: the functions of the Oxford BSP toolset's level-1
! library for Fortran. INCLUDE 'fbsp_level1.h' after 'fbsp.h'; or USE
! bsp, which has both. A program that declares them itself, as it had
! to for the toolset, includes fbsp.h alone. See docs/fortran.md.
      INTERFACE

! ---- True (not 0) on all processes, or on any; the same everywhere
        INTEGER FUNCTION bspall(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        INTEGER FUNCTION bspany(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION

! ---- Whether x is the same on all processes
        INTEGER FUNCTION bspconstanti(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION

! ---- The x of all in ascending order: process i has the i-th, from 0
        INTEGER FUNCTION bspsorti(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspsortr(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspsortd(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspsortd
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION

! ---- Sum of all; with _prefix: of process 0 to this one
        INTEGER FUNCTION bspsumi(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        INTEGER FUNCTION bspsumi_prefix(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspsumr(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspsumr_prefix(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspsumd(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspsumd
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspsumd_prefix(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspsumd_prefix
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION

! ---- Product of all; with _prefix: of process 0 to this one
        INTEGER FUNCTION bspproducti(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        INTEGER FUNCTION bspproducti_prefix(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspproductr(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspproductr_prefix(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspproductd(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspproductd
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspproductd_prefix(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspproductd_prefix
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION

! ---- Least of all; with _prefix: of process 0 to this one
        INTEGER FUNCTION bspmini(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        INTEGER FUNCTION bspmini_prefix(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspminr(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspminr_prefix(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspmind(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspmind
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspmind_prefix(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspmind_prefix
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION

! ---- Greatest of all; with _prefix: of process 0 to this one
        INTEGER FUNCTION bspmaxi(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        INTEGER FUNCTION bspmaxi_prefix(x)
          INTEGER, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspmaxr(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        REAL FUNCTION bspmaxr_prefix(x)
          REAL, INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspmaxd(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspmaxd
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION
        FUNCTION bspmaxd_prefix(x)
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspmaxd_prefix
          REAL(KIND=SELECTED_REAL_KIND(15, 307)), INTENT(IN) :: x
        END FUNCTION

! ---- The machine: flop/s; flops a word, a barrier; words
        FUNCTION bsps()
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bsps
        END FUNCTION
        FUNCTION bspg()
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspg
        END FUNCTION
        FUNCTION bspl()
          REAL(KIND=SELECTED_REAL_KIND(15, 307)) :: bspl
        END FUNCTION
        INTEGER FUNCTION bspnhalf()
        END FUNCTION
      END INTERFACE
