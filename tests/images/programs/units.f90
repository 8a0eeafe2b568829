! Fortran: units that stay open, unwritten records, allocatables, internal procedures as arguments
! (code on the stack), formatted output.
program units
  use bsp
  implicit none
  integer :: step, i, number
  real(8), allocatable :: field(:)
  character(len=40) :: line
  call bspbegin(bspnprocs())
  open(unit=10, file='written.txt', status='replace', action='readwrite')
  open(unit=11, file='direct.bin', access='direct', recl=64, form='unformatted', status='replace')
  do step = 1, 4
    if (allocated(field)) deallocate(field)
    allocate(field(1000 * step))
    field = [(sqrt(real(i + step, 8)), i = 1, 1000 * step)]
    write(10, '(a,i4,f12.6)') 'step', step, sum(field)
    write(11, rec=step) step, field(1)
    call bspsync()
    print '(a,i2,f20.10)', 'sum ', step, apply(scaled)
    write(*, '(a)', advance='no') 'part of a line, '
    call bspsync()
    read(11, rec=step) number
    print *, 'record', number
  end do
  rewind(10)
  do step = 1, 4
    read(10, '(a)') line
    print '(a)', trim(line)
  end do
  close(10)
  close(11)
  call bspend()
contains
  real(8) function scaled(x)
    real(8), intent(in) :: x
    scaled = x * step
  end function
  real(8) function apply(f)
    interface
      real(8) function f(x)
        real(8), intent(in) :: x
      end function
    end interface
    integer :: k
    apply = 0
    do k = 1, size(field)
      apply = apply + f(field(k))
    end do
  end function
end program
