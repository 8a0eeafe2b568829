# BSPlib without the wrappers, and in build systems.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, work, prefix and bin are install_test.sh's.

pkg_config() {
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@"
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
