# Manual pages and completion.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, work, prefix and bin are install_test.sh's.

check_manual_is_clean() {
  local page complaints
  complaints=$(find "$prefix/share/man" -type f -exec mandoc -Tlint {} \; 2>&1) || true
  equal 'the output of mandoc -Tlint' "$complaints" ''
  while IFS= read -r page; do
    [[ -e $page ]] || die "$page is a dangling link"
  done < <(find "$prefix/share/man" -type l)
}

check_manual_has_every_call() {
  local call
  local count=0
  while IFS= read -r call; do
    is_file "$prefix/share/man/man3/$call.3"
    count=$((count + 1))
  done < <(cd -- "$prefix/include" && grep -hoE '\bbsp(lib|msg)?_[a-zA-Z_]+\(' \
    bsp.h bsp_level1.h pub.h | tr -d '(' | sort -u)
  ((count > 90)) || die "the headers have only $count calls"
}

# page_text PAGE: prints the page as plain text; what was broken at a hyphen is whole again.
page_text() {
  mandoc -Tutf8 -O width=200 "$prefix/share/man/$1" | sed $'s/.\b//g' | sed -z 's/-\n */-/g'
}

# page_example PAGE: prints the complete program in a manual page, which ends with its main.
page_example() {
  page_text "$1" | sed '1,/^EXAMPLES/d' | sed -n '/#include/,/^ *return 0;$/p'
  echo '}'
}

check_manual_examples_run() {
  new_directory
  page_example man7/bsplib.7 >pi.c
  must "$bin/bspcc" -O2 -Wall -Wextra -Werror pi.c -o pi
  equal 'pi' "$("$bin/bsprun" -n 3 ./pi)" 'pi is about 3.1415926536'
  page_example man3/bsp.hpp.3 >sum.cc
  must "$bin/bspc++" -std=c++17 -Wall -Wextra -Werror sum.cc -o sum
  equal 'bsp.hpp' "$("$bin/bsprun" -n 3 ./sum)" 'the sum of all pids is 3'
  page_example man7/pub.7 >pub.c
  must "$bin/bspcc" -Wall -Wextra -Werror pub.c -o pub
  equal 'pub' "$("$bin/bsprun" -n 2 ./pub | sort)" $'0 hears of 0\n1 hears of 1'
  page_example man3/bsp_begin.3 >begin.c
  must "$bin/bspcc" -Wall -Wextra -Werror begin.c -o begin
  equal 'bsp_init' "$(echo 2 | "$bin/bsprun" -n 3 ./begin | sort)" \
    $'process 0 of 2\nprocess 1 of 2'
}

# completes PROGRAM WORD...: prints what bash offers for the last word, sorted, on one line.
completes() {
  # shellcheck disable=SC2016
  bash --noprofile --norc -c '
    source "$0/${1##*/}"
    COMP_WORDS=("$@")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    call=$(complete -p "$1" | sed "s/.*-F \([^ ]*\).*/\1/")
    "$call" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf "%s\n" "${COMPREPLY[@]}"' "$prefix/share/bash-completion/completions" "$@" |
    sort | tr '\n' ' '
}

check_completion() {
  new_directory
  mkdir programs
  touch data
  printf '#!/bin/sh\n' >prog
  chmod +x prog
  equal 'bsprun pro' "$(completes bsprun -n 4 pro)" 'prog programs '
  equal 'bsprun --dir p' "$(completes bsprun --dir p)" 'programs '
  equal 'bsprun dat' "$(completes bsprun dat)" ' '
  equal 'bsp r' "$(completes bsp r)" 'resume run '
  equal 'bsp s' "$(completes bsp s)" 'show submit suspend '
  equal 'bsp submit --f' "$(completes bsp submit -n 2 --f)" '--file '
  equal 'bsp submit pro' "$(completes bsp submit -n 2 --file data pro)" 'prog programs '
  equal 'bsp jobs --state s' "$(completes bsp jobs --state s)" 'succeeded suspended '
  equal 'bsp jobs --state running,f' "$(completes bsp jobs --state running,f)" 'running,failed '
  equal 'bsp --tls p' "$(completes bsp --tls p)" 'programs '
  equal 'bsp --coordinator HOST:PORT he' "$(completes bsp --coordinator head : 7070 he)" 'help '
  equal 'bsp --tls DIR logs --pi' "$(completes bsp --tls dir logs --pi)" '--pid '
  equal 'bsp he' "$(completes bsp he)" 'help '
  equal 'bsp help sub' "$(completes bsp help sub)" 'submit '
  equal 'bsp cancel --state s' "$(completes bsp cancel --state s)" 'suspended '
  equal 'bsp logs --pi' "$(completes bsp logs --pi)" '--pid '
  equal 'bsp run --tim' "$(completes bsp run --tim)" '--time --time-limit --timing --timing-file '
  equal 'an option of the program' "$(completes bsprun ./prog --t)" ' '
  equal 'bspcc --s' "$(completes bspcc --s)" '--shared-bsp '
  equal 'bspfc --multi' "$(completes bspfc --multi)" ' '
  local PATH=$bin:$PATH
  equal 'bsp-coordinator --bar' "$(completes bsp-coordinator --bar)" \
    '--barrier-advertise --barrier-listen '
  equal 'bsp-coordinator --log-level' "$(completes bsp-coordinator --log-level w)" 'warning '
  equal 'bsp-worker --log-format' "$(completes bsp-worker --log-format j)" 'json '
  equal 'bsp-worker --he' "$(completes bsp-worker --he)" '--help '
  equal 'bsp-worker --state-dir' "$(completes bsp-worker --state-dir p)" 'programs '
}

# Prints the options in a text of --help, which is its input.
options_of() {
  grep -oE '(^| |\[|,)--?[a-z][a-z-]*' | tr -d ' [,' | sort -u
}

# Each option is in --help, in the manual page and in the completion.
check_options_are_documented() {
  local option page command
  page=$(page_text man1/bsprun.1)
  while IFS= read -r option; do
    contains 'bsprun(1)' "$page" "$option"
    contains 'completion of bsprun' "$(completes bsprun "$option")" "$option"
  done < <("$bin/bsprun" --help 2>&1 | options_of)
  page=$(page_text man1/bsp.1)
  while IFS= read -r command; do
    contains 'bsp(1)' "$page" "bsp $command"
    contains 'completion of bsp' "$(completes bsp "$command")" "$command"
    while IFS= read -r option; do
      contains "bsp(1) or bsprun(1), of bsp $command" "$page$(page_text man1/bsprun.1)" "$option"
      contains "completion of bsp $command" "$(completes bsp "$command" "$option")" "$option"
    done < <("$bin/bsp" "$command" --help 2>&1 | options_of)
  done < <("$bin/bsp" --help | sed '1,/^Subcommands:/d' | grep -oE '^  [a-z]+' | tr -d ' ')
  page=$(page_text man8/bsp-coordinator.8)
  while IFS= read -r option; do
    contains 'bsp-coordinator(8)' "$page" "$option"
  done < <("$bin/bsp-coordinator" --help | options_of | grep -- --)
  page=$(page_text man8/bsp-worker.8)
  while IFS= read -r option; do
    contains 'bsp-worker(8)' "$page" "$option"
  done < <("$bin/bsp-worker" --help | options_of | grep -- --)
  page=$(page_text man1/bspcc.1)
  while IFS= read -r option; do
    contains 'bspcc(1)' "$page" "${option#-}"
  done < <("$bin/bspcc" --help | grep -oE '^ +--?[a-z-]+' | tr -d ' ')
}
