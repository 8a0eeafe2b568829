! hello.c with the module.
program hello
  use bsp
  implicit none
  integer, target :: left
  integer :: pid, p
  call bspbegin(bspnprocs())
  pid = bsppid()
  p = bspnprocs()
  left = -1
  call bsppushreg(left, BSPINT)
  call bspsync()
  call bspput(mod(pid + 1, p), pid, left, 0, BSPINT)
  call bspsync()
  print '(i0, a, i0, a, i0)', pid, ' of ', p, ', left ', left
  call bspend()
end program
