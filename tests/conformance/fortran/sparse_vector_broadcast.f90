! Source: BSPlib 1997, Move from queue, Example, put in Fortran
! Claim: All the nonzero elements from all the p chunks of a vector are broadcast to all the
!   processes; the tag size is as before at the end.
program sparse_vector_broadcast
  use bsp
  implicit none
  integer, parameter :: n_over_p = 6
  real :: dense(n_over_p)
  real, allocatable :: sparse(:), whole(:)
  integer, allocatable :: ivec(:)
  integer :: i, g, tag_size

  call bspbegin(bspnprocs())
  allocate(whole(0:n_over_p * bspnprocs() - 1))
  do g = 0, size(whole) - 1
    whole(g) = merge(real(g), 0.0, mod(g, 4) == 1)
  end do
  dense = whole(n_over_p * bsppid():n_over_p * (bsppid() + 1) - 1)
  call all_gather_sparse_vec(dense, sparse, ivec)
  call expecteq(size(sparse), count(whole /= 0), 'nonzeros')
  do i = 1, size(sparse)
    call expect(sparse(i) == whole(ivec(i)), 'an element')
    whole(ivec(i)) = 0
  end do
  call expect(all(whole == 0), 'each element has come once')
  tag_size = 0
  call bspsettagsize(tag_size)
  call expecteq(tag_size, 0, 'tag size before')
  call sayok()
  call bspend()
  deallocate(whole, sparse, ivec)

contains

  subroutine all_gather_sparse_vec(dense, sparse, ivec)
    real, intent(in) :: dense(:)
    real, allocatable, intent(out) :: sparse(:)
    integer, allocatable, intent(out) :: ivec(:)
    integer :: i, j, tag_size, nonzeros, nonzeros_size, status

    tag_size = BSPINT
    call bspsettagsize(tag_size)
    call bspsync()

    do i = 1, size(dense)
      if (dense(i) == 0) cycle
      do j = 0, bspnprocs() - 1
        call bspsend(j, size(dense) * bsppid() + i - 1, dense(i), BSPREAL)
      end do
    end do
    call bspsync()

    call bspqsize(nonzeros, nonzeros_size)
    allocate(sparse(nonzeros), ivec(nonzeros))
    do i = 1, nonzeros
      call bspgettag(status, ivec(i))
      if (status /= BSPREAL) call bspabort('Should never get here')
      call bspmove(sparse(i), BSPREAL)
    end do
    call bspsettagsize(tag_size)
  end subroutine
end program
