! SPDX-License-Identifier: Apache-2.0
!
! Counts how often each id occurs, and looks some ids up in a map.

! The calls of karpos.h that this program uses. Handles are type(c_ptr); arrays of void are type(*), dimension(*).
module karpos
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int), parameter :: karpos_i64 = 3, karpos_host_memory = 0

  interface
    integer(c_int) function karpos_initialize() bind(c)
      import
    end function
    integer(c_int) function karpos_finalize() bind(c)
      import
    end function
    type(c_ptr) function karpos_last_error() bind(c)
      import
    end function
    integer(c_int) function karpos_context_create(memory, context) bind(c)
      import
      integer(c_int), value :: memory
      type(c_ptr), intent(out) :: context
    end function
    integer(c_int) function karpos_count_by_key(context, key, n, keys, capacity, out_keys, out_counts, groups) bind(c)
      import
      type(c_ptr), value :: context
      integer(c_int), value :: key
      integer(c_int64_t), value :: n, capacity
      type(*), intent(in) :: keys(*)
      type(*) :: out_keys(*)
      integer(c_int64_t), intent(out) :: out_counts(*), groups
    end function
    integer(c_int) function karpos_map_create(context, key, val, max_keys, map) bind(c)
      import
      type(c_ptr), value :: context
      integer(c_int), value :: key, val
      integer(c_int64_t), value :: max_keys
      type(c_ptr), intent(out) :: map
    end function
    integer(c_int) function karpos_map_insert(map, n, keys, vals, inserted) bind(c)
      import
      type(c_ptr), value :: map
      integer(c_int64_t), value :: n
      type(*), intent(in) :: keys(*), vals(*)
      integer(c_int64_t), intent(out) :: inserted
    end function
    integer(c_int) function karpos_map_find(map, n, keys, missing, vals) bind(c)
      import
      type(c_ptr), value :: map
      integer(c_int64_t), value :: n
      type(*), intent(in) :: keys(*), missing
      type(*) :: vals(*)
    end function
    integer(c_size_t) function strlen(s) bind(c)
      import
      type(c_ptr), value :: s
    end function
  end interface

contains

  ! Stops with the library's sentence if a call failed.
  subroutine require(status)
    integer(c_int), intent(in) :: status
    character(kind=c_char), pointer :: message(:)
    if (status == 0) return
    call c_f_pointer(karpos_last_error(), message, [strlen(karpos_last_error())])
    print *, message
    error stop 1
  end subroutine
end module

program degrees
  use karpos
  implicit none
  integer(c_int64_t) :: ids(9) = [7, 1000000007, 7, 42, 42, 99, 7, 1000000007, 5]
  integer(c_int64_t) :: asked(3) = [7, 42, 8], different(9), counts(9), found(3), n, inserted
  type(c_ptr) :: context, map

  call require(karpos_initialize())
  call require(karpos_context_create(karpos_host_memory, context))
  call require(karpos_count_by_key(context, karpos_i64, 9_c_int64_t, ids, 9_c_int64_t, different, counts, n))

  call require(karpos_map_create(context, karpos_i64, karpos_i64, n, map))
  call require(karpos_map_insert(map, n, different, counts, inserted))
  call require(karpos_map_find(map, 3_c_int64_t, asked, 0_c_int64_t, found))
  print '(i0, a, i0, a, i0, a, i0, a)', n, ' ids; 7 occurs ', found(1), ' times, 42 ', found(2), ' times, 8 ', found(3), ' times'

  call require(karpos_finalize())  ! frees map and context
  if (n /= 5 .or. any(found /= [3, 2, 0])) error stop 1
end program
