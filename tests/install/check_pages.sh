# Pages of the documentation, followed word for word.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, here and bin are install_test.sh's.

# Up to the program that runs for a while; what comes then takes three machines.
check_tutorial() {
  new_directory
  PATH=$bin:$PATH must python3 "$here/follow_page.py" "$root/docs/tutorial.md" '## 3.'
}

# The program that the README shows, by the commands that it shows.
check_readme() {
  local left
  new_directory
  awk "/^\`\`\`c\$/ { on = 1; next } /^\`\`\`/ { on = 0 } on" "$root/README.md" >hello.c
  sed -n 's/^    \(bspcc .*\|bsprun -n 4 [^#]*\).*/\1/p' "$root/README.md" >commands
  equal 'the commands' "$(wc -l <commands)" 2
  left=$(PATH=$bin:$PATH bash -e commands | sort)
  equal 'what it prints' "$left" "$(printf 'process %s of 4: %s is on my left\n' 0 3 1 0 2 1 3 2)"
}
