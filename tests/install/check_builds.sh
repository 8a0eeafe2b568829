# BSPlib without the wrappers, and in build systems.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, work, prefix, bin and libdir are install_test.sh's.

pkg_config() {
  PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig pkg-config "$@"
}

check_pkg_config() {
  new_directory
  # pkg-config escapes blanks for a shell that reads its output.
  local -a flags
  eval "flags=($(pkg_config --cflags --libs bsp))"
  must cc hello.c -o hello "${flags[@]}"
  ! ldd ./hello | grep libbsp || die 'pkg-config links libbsp.so'
  greets 2 "$bin/bsprun" -n 2 ./hello
}

greet_from() {
  local program
  for program in hello_c hello_cxx hello_fortran; do
    greets 2 "$bin/bsprun" -n 2 "$1/$program"
  done
}

# An interpreter that was started without a launcher starts itself under one.
check_python() {
  new_directory
  local module=$prefix/lib/python3/dist-packages
  printf 'import bsp\nbsp.begin()\nprint(bsp.reduce(1))\nbsp.end()\n' >sum.py
  equal 'bsprun python3' "$(PYTHONPATH=$module "$bin/bsprun" -n 3 /usr/bin/python3 sum.py)" \
    $'3\n3\n3'
  equal 'python3' "$(PYTHONPATH=$module BSP_NPROCS=2 /usr/bin/python3 sum.py)" $'2\n2'
}

check_cmake_with_wrapper() {
  new_directory
  must cmake -S "$here/with_wrapper" -B build -DSOURCES="$directory" \
    -DCMAKE_C_COMPILER="$bin/bspcc" -DCMAKE_CXX_COMPILER="$bin/bspc++" \
    -DCMAKE_Fortran_COMPILER="$bin/bspfc"
  must cmake --build build
  greet_from build
}

check_cmake_with_package() {
  new_directory
  local version
  version=$(pkg_config --modversion bsp)
  local -a configure=(cmake -S "$here/with_package" -DSOURCES="$directory"
    -DCMAKE_PREFIX_PATH="$prefix")
  must "${configure[@]}" -B build -DWANTED_VERSION="$version"
  must cmake --build build
  greet_from build
  must cmake --build build --target test
  must_fail 1 'that is compatible' "${configure[@]}" -B other -DWANTED_VERSION=99
}

# As Debian's packages have it: libraries two levels below the prefix.
check_library_directory() {
  prefix="$work/multiarch"
  bin=$prefix/bin
  libdir=lib/$(gcc -print-multiarch)
  must deploy_install --prefix="$prefix" --libdir="$libdir"
  equal 'what is in lib' "$(ls "$prefix/lib")" $'python3\n'"${libdir#lib/}"
  check_program_starts_itself
  check_pkg_config
  check_cmake_with_package
  must_fail 1 'not the name of a directory' deploy_install --prefix="$prefix" --libdir=../up
  must deploy_install --prefix="$prefix" --uninstall
  is_absent "$prefix"
}

check_moved_prefix() {
  must deploy_install --prefix="$work/first place"
  mv -- "$work/first place" "$work/second place"
  prefix="$work/second place"
  bin=$prefix/bin
  check_links_to_the_wrapper
  check_pkg_config
  check_cmake_with_package
  must deploy_install --prefix="$prefix" --uninstall
  is_absent "$prefix"
}
