! Source: docs/fortran.md, "Past 2 GiB"
! Claim: With the module, sizes and offsets may be INTEGER(8): an area of 3 GiB is registered and
!   its far end reached by each of the calls.
! Procs: 1 2
program sizes_past_2_gib
  use bsp
  use iso_fortran_env, only: int8, int64
  implicit none
  integer(int64), parameter :: area_bytes = 3 * 2_int64**30, far = area_bytes - 8
  integer(int8), allocatable :: area(:)
  integer(int64) :: word, got, pair(2), n
  integer :: right, left, messages

  call bspbegin(bspnprocs())
  right = mod(bsppid() + 1, bspnprocs())
  left = mod(bsppid() + bspnprocs() - 1, bspnprocs())
  allocate(area(area_bytes))
  call bsppushreg(area, area_bytes)
  call bspcheckpointregister(area, area_bytes)
  call expect(bspcheckpointresume() == 0, 'nothing to resume')
  call bspsync()

  word = 1000 + bsppid()
  call bspput(right, word, area, far, 8_int64)
  call bspput(right, word, area, 0_int64, 8_int64)
  call bspsync()
  call expect(transfer(area(far + 1:), 0_int64) == 1000 + left, 'put')
  call expect(transfer(area(1:8), 0_int64) == 1000 + left, 'put within an int')

  call bspget(right, area, far, got, 8_int64)
  call bspsync()
  call expect(got == 1000 + bsppid(), 'get')

  word = 2000 + bsppid()
  call bsphpput(right, word, area, far - 8, 8_int64)
  call bspsync()
  call bsphput(right, word, area, far - 16, 8_int64)
  call bsphpget(right, area, far - 8, got, 8_int64)
  call bspsync()
  call expect(transfer(area(far - 15:far - 8), 0_int64) == 2000 + left, 'hput')
  call expect(got == 2000 + bsppid(), 'hpput, hpget')

  n = 8
  call bspsettagsize(n)
  call expect(n == 0, 'tag size at first')
  call bspsync()
  pair = [word + 1, word + 2]
  call bspsend(right, word, pair, 16_int64)
  call bspsync()
  call bspqsize(messages, n)
  call expect(messages == 1 .and. n == 16, 'queue')
  call bspgettag(n, got)
  call expect(n == 16 .and. got == 2000 + left, 'tag')
  call bspmove(area, area_bytes)
  call expect(transfer(area(9:16), 0_int64) == 2002 + left, 'payload')
  call bspgettag(n, got)
  call expect(n == -1, 'status of the empty queue')
  call bsppopreg(area)
  call sayok()
  call bspend()
  deallocate(area)
end program
