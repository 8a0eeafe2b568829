# find_package(bspnow) for CMake 3.10 and later. Gives
#
#   bspnow::bsp         libbsp.a: a program that holds it runs on any machine of a job
#   bspnow::bsp_shared  libbsp.so, for libraries and for languages that load one
#   bspnow::bsprun      the launcher, e.g. add_test(NAME t COMMAND bspnow::bsprun -n 4 ./t)
#
# and bspnow_INCLUDE_DIRS, bspnow_LIBRARIES, bspnow_BSPRUN for those who prefer variables.
# The paths hang on the place of this file, so an installed tree can be moved.

get_filename_component(_bspnow_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

foreach(_bspnow_file include/bsp.h lib/libbsp.a lib/libbsp.so bin/bsprun)
  if(NOT EXISTS "${_bspnow_prefix}/${_bspnow_file}")
    set(bspnow_FOUND FALSE)
    set(bspnow_NOT_FOUND_MESSAGE "${_bspnow_prefix}/${_bspnow_file} is missing")
    unset(_bspnow_file)
    unset(_bspnow_prefix)
    return()
  endif()
endforeach()

set(bspnow_INCLUDE_DIRS "${_bspnow_prefix}/include")
set(bspnow_LIBRARIES bspnow::bsp)
set(bspnow_BSPRUN "${_bspnow_prefix}/bin/bsprun")

if(NOT TARGET bspnow::bsp)
  add_library(bspnow::bsp STATIC IMPORTED)
  set_target_properties(bspnow::bsp PROPERTIES
    IMPORTED_LOCATION "${_bspnow_prefix}/lib/libbsp.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C # It needs libc and nothing else.
    INTERFACE_INCLUDE_DIRECTORIES "${_bspnow_prefix}/include")

  add_library(bspnow::bsp_shared SHARED IMPORTED)
  set_target_properties(bspnow::bsp_shared PROPERTIES
    IMPORTED_LOCATION "${_bspnow_prefix}/lib/libbsp.so"
    IMPORTED_SONAME libbsp.so.1
    INTERFACE_INCLUDE_DIRECTORIES "${_bspnow_prefix}/include")

  add_executable(bspnow::bsprun IMPORTED)
  set_target_properties(bspnow::bsprun PROPERTIES
    IMPORTED_LOCATION "${_bspnow_prefix}/bin/bsprun")
endif()

unset(_bspnow_file)
unset(_bspnow_prefix)
