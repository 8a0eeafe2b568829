# The installed tree: what it contains, and how it is installed and removed.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, work, prefix and bin are install_test.sh's.

check_relative_prefix() {
  cd -- "$work" || exit
  mkdir 'a prefix'
  output=$(deploy_install --prefix 'a prefix/bspnow') || die "deploy/install fails" "$output"
  contains 'the output of deploy/install' "$output" "is in $prefix"
}

check_files() {
  is_file "$bin"/{bsp,bsprun,bspcc,bspc++,bspfc,bsp-coordinator,bsp-worker} \
    "$prefix"/libexec/bspnow/{bsp-client,bsp-host,bsp-probe,bsp-restore} \
    "$prefix"/include/{bsp.h,bsp_level1.h,greenbsp.h,mcbsp.h,pub.h,bsp.hpp,bsp/world.hpp} \
    "$prefix"/include/{fbsp.h,fbsp_level1.h,bsp.f90,bsp.mod} \
    "$prefix"/lib/{libbsp.a,libbsp.so,libbsp.so.1,pkgconfig/bsp.pc} \
    "$prefix"/lib/cmake/bspnow/{bspnowConfig,bspnowConfigVersion}.cmake \
    "$prefix"/share/bash-completion/completions/{bsp,bsprun,bspcc,bspc++,bspfc} \
    "$prefix"/share/bash-completion/completions/{bsp-coordinator,bsp-worker} \
    "$prefix"/share/man/{man1/bsprun.1,man3/bsp_put.3,man7/bsplib.7,man8/bsp-worker.8} \
    "$prefix"/share/zsh/site-functions/{_bsp,_bsp-coordinator,_bsp-worker}
  is_file "$prefix"/lib/python3/dist-packages/bsp/{__init__.py,_native.so}
  equal 'what has other modes' "$(find "$prefix" -type f ! -perm 644 ! -perm 755)" ''
  equal 'what is left of the copying' "$(find "$prefix" -name '.*')" ''
  equal 'a template filled by halves' \
    "$(grep -rl '@[A-Z]*@' "$prefix"/{include,share/man,lib/cmake,lib/pkgconfig})" ''
  contains "libbsp.so's dynamic section" "$(readelf -d "$prefix/lib/libbsp.so")" '[libbsp.so.1]'
  contains 'the version' "$("$bin/bsp" --version)" "$(pkg_config --modversion bsp)"
}

# A start that cannot listen counts as none: no journal, and no term.
check_coordinator_that_cannot_listen() {
  local where
  new_directory
  echo mine >file
  for where in "--login-socket=$PWD/file" --metrics=192.0.2.1:1 --web=192.0.2.1:1; do
    must_fail 1 '' "$bin/bsp-coordinator" --listen 127.0.0.1:0 --insecure "$where" --state-dir state
    [[ ! -e state/jobs.sqlite ]] || die "a journal is left after $where"
  done
  is_file file
}

check_libraries_need_only_libc() {
  local needed
  needed=$(readelf -d "$prefix/lib/libbsp.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  equal 'what libbsp.so needs' "$(grep -vE '^(libc|ld-linux.*)\.so\.[0-9]+$' <<<"$needed")" ''
}

# A program finds bsprun by the prefix in the library, static or shared.
check_program_starts_itself() {
  new_directory
  must "$bin/bspcc" hello.c -o static
  must "$bin/bspcc" --shared-bsp hello.c -o shared
  BSP_NPROCS=3 greets 3 env PATH=/usr/bin:/bin ./static
  BSP_NPROCS=3 greets 3 env PATH=/usr/bin:/bin ./shared
}

check_reinstall_replaces_whole_files() {
  local before
  before=$(listing "$prefix")
  ln "$prefix/lib/libbsp.a" "$work/old libbsp.a"
  echo old >"$prefix/share/man/man3/bsp_gone.3"
  echo 'f share/man/man3/bsp_gone.3' >>"$prefix/share/bspnow/manifest"
  must deploy_install --prefix="$prefix"
  equal 'the tree after a second install' "$(listing "$prefix")" "$before"
  [[ ! "$work/old libbsp.a" -ef $prefix/lib/libbsp.a ]] || die 'libbsp.a was written in place'
}

check_failed_install_changes_nothing() {
  local before
  before=$(listing "$prefix")
  mkdir -p -- "$work/half/runtime"
  ln -s -- "$artefacts/client" "$artefacts/coordinator" "$artefacts/worker" "$work/half"
  cp -- "$artefacts/runtime/libbsp.a" "$work/half/runtime"
  must_fail 1 'libbsp.so is missing' "$root/deploy/install" --from-bazel-bin="$work/half" \
    --prefix="$prefix"
  equal 'the tree after a failed install' "$(listing "$prefix")" "$before"
}

check_destdir() {
  local stage="$work/stage dir"
  DESTDIR=$stage must deploy_install --prefix=/opt/bspnow
  is_file "$stage/opt/bspnow/bin/bsprun"
  grep -qF /opt/bspnow "$stage/opt/bspnow/lib/libbsp.a" || die 'the prefix is not in libbsp.a'
  ! grep -rqF "$stage" "$stage" || die 'a file contains DESTDIR'
  DESTDIR=$stage must deploy_install --prefix=/opt/bspnow --uninstall
  is_absent "$stage/opt/bspnow"
}

check_wrong_arguments() {
  must_fail 1 "unknown argument '--frobnicate'" deploy_install --frobnicate
  must_fail 1 'needs a directory' deploy_install --prefix
  must_fail 1 'libbsp has room for 1023' deploy_install --prefix="/$(printf 'x%.0s' {1..1100})"
  must_fail 1 'nothing of bspnow' deploy_install --uninstall --prefix="$work/nowhere"
}

check_uninstall() {
  mkdir -p -- "$work/shared/lib"
  echo mine >"$work/shared/lib/mine"
  local before
  before=$(listing "$work/shared")
  must deploy_install --prefix="$work/shared"
  must deploy_install --prefix="$work/shared" --uninstall
  equal 'a shared prefix after uninstall' "$(listing "$work/shared")" "$before"
  must deploy_install --prefix="$prefix" --uninstall
  is_absent "$prefix"
}
