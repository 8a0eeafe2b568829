# bspcc, bspc++ and bspfc.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, work, prefix and bin are install_test.sh's.

check_languages() {
  new_directory
  must "$bin/bspcc" -Wall -Wextra -pedantic -std=c99 -Werror hello.c -o c
  must "$bin/bspc++" -Wall -Wextra -Werror hello.cc -o cxx
  must "$bin/bspfc" hello_module.f90 -o module
  must "$bin/bspfc" hello_include.f -o include
  must "$bin/bspcc" hello_include.f -o by_bspcc
  must "$bin/bspcc" --multicore -Wall -Werror hello.c -o multicore
  for program in c cxx module include by_bspcc multicore; do
    greets 3 "$bin/bsprun" -n 3 "./$program"
  done
  greets 2 "$bin/bsp" run -n 2 ./c
  ! ldd ./c | grep libbsp || die 'bspcc links libbsp.so'
  contains 'symbols of a --multicore program' "$(nm multicore)" bsp_mc_put
}

check_show() {
  new_directory
  local add="-isystem '$prefix/include'"
  equal '-show of a program' "$("$bin/bspcc" -show -O2 hello.c -o 'a b')" \
    "cc -O2 hello.c -o 'a b' $add '$prefix/lib/libbsp.a'"
  equal '--showme -c' "$("$bin/bspc++" --showme -c hello.cc)" "c++ -c hello.cc $add"
  equal '-show of objects' "$("$bin/bspcc" -show a.o b.a)" "cc a.o b.a '$prefix/lib/libbsp.a'"
  equal '-show alone' "$("$bin/bspcc" -show)" "cc $add '$prefix/lib/libbsp.a'"
  equal '-show of Fortran' "$("$bin/bspfc" -show -c a.f90)" "gfortran -c a.f90 '-I$prefix/include'"
  equal 'Fortran for bspcc' "$("$bin/bspcc" -show -c a.f)" "gfortran -c a.f '-I$prefix/include'"
  equal '-compile-info' "$("$bin/bspcc" --multicore -compile-info)" "cc $add -DBSP_MULTICORE"
  equal '-link-info' "$("$bin/bspcc" -link-info)" "cc '$prefix/lib/libbsp.a'"
  equal '-showme:compile' "$("$bin/bspcc" -showme:compile)" "$add"
  equal '-showme:link' "$("$bin/bspc++" --showme:link)" "'$prefix/lib/libbsp.a'"
  contains '--shared-bsp' "$("$bin/bspcc" --shared-bsp -show a.o)" "-rpath -Xlinker '$prefix/lib'"
  equal '-shared' "$("$bin/bspcc" -show -shared a.o)" 'cc -shared a.o'
  equal 'what -show made' "$(echo *)" 'hello.c hello.cc hello_include.f hello_module.f90'
  must bash -c "$("$bin/bspcc" -show hello.c -o 'a b')"
  greets 2 "$bin/bsprun" -n 2 './a b'
}

# A directory of the user that has a bsp.h precedes ours, wherever the command line names it.
check_own_header_goes_first() {
  new_directory
  mkdir 'own dir'
  echo 'int own_header;' >'own dir/bsp.h'
  printf '#include <bsp.h>\nint *p = &own_header;\n' | tee user.c >user.cc
  must "$bin/bspcc" -c user.c -I'own dir'
  must "$bin/bspcc" -I 'own dir' -c user.c
  must "$bin/bspcc" -c user.c -isystem 'own dir'
  must "$bin/bspc++" -c user.cc -isystem 'own dir'
  CPATH='own dir' must "$bin/bspcc" -c user.c
  C_INCLUDE_PATH='own dir' must "$bin/bspcc" -c user.c
  CPLUS_INCLUDE_PATH="/nowhere:own dir" must "$bin/bspc++" -c user.cc
  printf '#include "bsp.h"\nint *p = &own_header;\n' >'own dir/user.c'
  must "$bin/bspcc" -c 'own dir/user.c'
  printf 'module bsp\n integer :: own = 1\nend module\n' >'own dir/bsp.f90'
  printf 'use bsp\nprint *, own\nend\n' >user.f90
  must "$bin/bspfc" -J'own dir' -c 'own dir/bsp.f90'
  must "$bin/bspfc" -I'own dir' -c user.f90
}

# shellcheck disable=SC2016 # The dollar signs are literal.
check_arguments_pass_through() {
  new_directory
  printf '#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }\n' >'a $b.c'
  must "$bin/bspcc" '-DTEXT="a  b'\''$c"' 'a $b.c' -o 'the program'
  equal 'an argument with quotes' "$('./the program')" "a  b'\$c"
  must "$bin/bspcc" -MD -MF dep.d -MT 'a target' -include stdio.h -c hello.c -o out.o
  is_file dep.d out.o
  must "$bin/bspcc" out.o -o from_object
  greets 2 "$bin/bsprun" -n 2 ./from_object
  "$bin/bspcc" -x c -Wall - -o from_stdin <hello.c || die 'bspcc -x c - fails'
  greets 2 "$bin/bsprun" -n 2 ./from_stdin
  printf -- "-x c 'hello.c'\n-o \"from response\" -DX=\\\\\\\"\n" >arguments
  must "$bin/bspcc" @arguments
  greets 2 "$bin/bsprun" -n 2 './from response'
  echo '-c hello.c' >arguments
  echo @arguments >nested
  must "$bin/bspcc" @nested -o nested.o
  contains '-###' "$("$bin/bspcc" -### hello.c 2>&1)" libbsp.a
  contains '-E' "$("$bin/bspcc" -E hello.c)" bsp_begin
  contains '-M' "$("$bin/bspcc" -M hello.c)" bsp.h
  must "$bin/bspcc" -c -- hello.c
  must "$bin/bspcc" "$prefix/include/bsp.h" -o bsp.h.gch
  must_fail 1 'no input files' "$bin/bspcc"
}

# The makefiles of programs that were written for the Oxford BSP toolset.
check_toolset_options() {
  new_directory
  cat >sums.c <<'END'
#include "bsp.h"
#include "bsp_level1.h"
int main(void) {
  int sum;
  bsp_begin(bsp_nprocs());
  sum = bsp_sumI(bsp_pid());
  if (bsp_pid() == 0) printf("%d\n", sum);
  bsp_end();
  return 0;
}
END
  must "$bin/bspcc" -flibrary-level 2 -bspfifo 10000 -fcombine-puts \
    -fcombine-puts-buffer 20480,1,2 -fcheck-syncs -prof -stat -O2 sums.c -o sums
  equal 'a program of the toolset' "$("$bin/bsprun" -n 4 ./sums)" 6
  equal '-flibrary-level -show' "$("$bin/bspcc" -show -flibrary-level 1 a.o)" \
    "cc a.o '$prefix/lib/libbsp.a'"
  must_fail 1 '-bspfifo needs a number' "$bin/bspcc" sums.c -bspfifo
  must_fail 1 "needs a number, not 'sums.c'" "$bin/bspcc" -flibrary-level sums.c
}

# Build systems ask the compiler for its version and the like; the compiler itself must answer.
check_questions() {
  equal '-v' "$("$bin/bspcc" -v 2>&1 | tail -n 1)" "$(cc -v 2>&1 | tail -n 1)"
  equal '-dumpmachine' "$("$bin/bspcc" -dumpmachine)" "$(cc -dumpmachine)"
  equal '-print-file-name' "$("$bin/bspc++" -print-file-name=libc.a)" \
    "$(c++ -print-file-name=libc.a)"
  equal '--version' "$("$bin/bspfc" --version | head -n 1)" "$(gfortran --version | head -n 1)"
  contains '--version' "$("$bin/bspcc" --version | tail -n 1)" "$(pkg_config --modversion bsp)"
  contains '--help' "$("$bin/bspcc" --help)" --shared-bsp
}

check_choice_of_compiler() {
  new_directory
  mkdir 'tool chain'
  ln -s "$(command -v clang)" 'tool chain/my clang'
  equal 'BSP_CC with arguments' "$(BSP_CC='clang -m64' "$bin/bspcc" -show -c a.c)" \
    "clang -m64 -c a.c -isystem '$prefix/include'"
  equal 'BSP_CC with a blank' "$(BSP_CC='tool chain/my clang' "$bin/bspcc" -show a.o)" \
    "'tool chain/my clang' a.o '$prefix/lib/libbsp.a'"
  # Clang warns of options that it does not need for the step.
  BSP_CC=clang must "$bin/bspcc" -Werror -c hello.c
  BSP_CC=clang must "$bin/bspcc" -Werror -S hello.c
  BSP_CC=clang must "$bin/bspcc" -Werror -c hello.s
  BSP_CC=clang must "$bin/bspcc" -Werror hello.o -o hello
  BSP_CC=clang must "$bin/bspcc" -Werror -c -- hello.c
  greets 2 "$bin/bsprun" -n 2 ./hello
  BSP_FC=no-such-compiler must_fail 127 "no compiler 'no-such-compiler'" "$bin/bspfc" a.f90
  BSP_CC="$bin/bspcc" must_fail 1 'BSP_CC names bspcc itself' "$bin/bspcc" hello.c
  must_fail 1 'is for C and C++' "$bin/bspfc" --multicore a.f90
  must_fail 1 'is for C and C++' "$bin/bspcc" --multicore a.f90
  must_fail 1 'compile Fortran with bspfc' "$bin/bspc++" a.cc b.f90
}

check_links_to_the_wrapper() {
  new_directory
  ln -s "$bin/bspc++" bspc++
  ln -s bspc++ 'other name'
  must './other name' hello.cc -o hello
  greets 2 "$bin/bsprun" -n 2 ./hello
}
