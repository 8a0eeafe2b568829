! Source: BSPlib 1997, Copy to remote memory, In Fortran
! Source: BSPlib 1997, Send to remote queue, In Fortran
! Claim: A <TYPE> argument may be of any type and shape: scalar, array, array element, section,
!   character string, derived type, allocatable, pointer, assumed shape.
program any_type_and_shape
  use bsp
  implicit none

  type particle
    integer :: id
    double precision :: at(3)
    character(len=5) :: name
  end type

  integer :: right, left

  call bspbegin(bspnprocs())
  right = mod(bsppid() + 1, bspnprocs())
  left = mod(bsppid() + bspnprocs() - 1, bspnprocs())
  call put_of_each_type()
  call elements_and_sections()
  call allocated_memory()
  call strings_as_messages()
  call sayok()
  call bspend()

contains

  subroutine put_of_each_type()
    logical :: l, l_to
    real :: r, r_to(2)
    double precision :: d, d_to
    complex(kind(1d0)) :: z, z_to
    character(len=7) :: c, c_to(2)
    type(particle) :: t, t_to
    l = .true.; r = bsppid() + 0.5; d = bsppid() + 0.25d0; z = (1d0, -2d0); c = 'name'
    t = particle(bsppid(), [1d0, 2d0, 3d0], 'abcde')
    l_to = .false.; r_to = 0; d_to = 0; z_to = 0; c_to = '?'; t_to = particle(0, 0d0, ' ')
    call bsppushreg(l_to, BSPLOGICAL)
    call bsppushreg(r_to, 2 * BSPREAL)
    call bsppushreg(d_to, BSPDOUBLE)
    call bsppushreg(z_to, BSPDCOMPLEX)
    call bsppushreg(c_to, 14 * BSPCHAR)
    call bsppushreg(t_to, storage_size(t_to) / 8)
    call bspsync()
    call bspput(right, l, l_to, 0, BSPLOGICAL)
    call bspput(right, r, r_to, BSPREAL, BSPREAL)
    call bspput(right, d, d_to, 0, BSPDOUBLE)
    call bspput(right, z, z_to, 0, BSPDCOMPLEX)
    call bspput(right, c, c_to, 7 * BSPCHAR, 7 * BSPCHAR)
    call bspput(right, t, t_to, 0, storage_size(t) / 8)
    call bspsync()
    call expect(l_to, 'logical')
    call expect(r_to(1) == 0 .and. r_to(2) == left + 0.5, 'real')
    call expect(d_to == left + 0.25d0, 'double precision')
    call expect(z_to == (1d0, -2d0), 'complex')
    call expect(c_to(1) == '?' .and. c_to(2) == 'name', 'character')
    call expect(t_to%id == left .and. all(t_to%at == [1, 2, 3]), 'derived type')
    call expect(t_to%name == 'abcde', 'derived type, its last component')
    call bsppopreg(t_to)
    call bsppopreg(c_to)
    call bsppopreg(z_to)
    call bsppopreg(d_to)
    call bsppopreg(r_to)
    call bsppopreg(l_to)
    call bspsync()
  end subroutine

  ! What is registered, or is the destination of a get, must be contiguous; the source of bspput
  ! and the payload of bspmove need not be (the compiler copies).
  subroutine elements_and_sections()
    integer :: a(3, 4), b(3, 4), c(6), nothing, i, status
    a = reshape([(100 * bsppid() + i, i = 1, 12)], [3, 4])
    b = 0
    call bsppushreg(b, 12 * BSPINT)
    call bspsync()
    call bspput(right, a(2, 3), b, 0, BSPINT)
    call bspput(right, a(:, 2), b, 3 * BSPINT, 3 * BSPINT)
    call bspput(right, a(1, :), b, 6 * BSPINT, 4 * BSPINT)
    call bspput(right, 2 * a(1:1, 1), b, 11 * BSPINT, BSPINT)
    call bspsync()
    call expecteq(b(1, 1), 100 * left + 8, 'array element')
    call expect(all(b(:, 2) == 100 * left + [4, 5, 6]), 'contiguous section')
    call expect(all(b(:, 3) == 100 * left + [1, 4, 7]), 'section with a stride')
    call expecteq(b(1, 4), 100 * left + 10, 'end of the section with a stride')
    call expecteq(b(3, 4), 2 * (100 * left + 1), 'expression')
    call bspget(right, b, 0, a(:, 4), 3 * BSPINT)
    call bspsend(right, nothing, a(3, 1:3), 3 * BSPINT)
    call bspsync()
    call expect(all(a(:, 4) == [100 * bsppid() + 8, 0, 0]), 'get into a section')
    c = -1
    call bspgettag(status, nothing)
    call bspmove(c(1::2), status)
    call expect(all(c(1::2) == 100 * left + [3, 6, 9]), 'move to a stride')
    call expect(all(c(2::2) == -1), 'between the stride')
    call bsppopreg(b)
    call bspsync()
  end subroutine

  subroutine allocated_memory()
    real, allocatable :: a(:)
    real, pointer :: b(:)
    allocate(a(10), b(10))
    a = bsppid()
    b = -1
    call bsppushreg(b, 10 * BSPREAL)
    call bspsync()
    call assumed_shape(a, b)
    call bspsync()
    call expect(all(b(4:6) == left) .and. all(b(:3) == -1) .and. all(b(7:) == -1), 'pointer')
    call bsppopreg(b)
    call bspsync()
    deallocate(a, b)
  end subroutine

  subroutine assumed_shape(a, b)
    real :: a(:), b(:)
    call bspput(right, a(5:), b, 3 * BSPREAL, 3 * BSPREAL)
  end subroutine

  subroutine strings_as_messages()
    character(len=3) :: tag
    character(len=20) :: text
    integer :: nbytes, status
    nbytes = 3
    call bspsettagsize(nbytes)
    call bspsync()
    write (text, '(a, i0)') 'from ', bsppid()
    call bspsend(right, 'tag', trim(text), len_trim(text))
    call bspsync()
    call bspgettag(status, tag)
    text = ' '
    call bspmove(text, status)
    call expect(tag == 'tag' .and. text(:5) == 'from ', 'strings')
    read (text(6:), *) status
    call expecteq(status, left, 'the sender')
    call bspsettagsize(nbytes)
    call bspsync()
  end subroutine
end program
