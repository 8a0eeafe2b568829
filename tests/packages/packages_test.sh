#!/usr/bin/env bash
# What can be said of the Debian packages without making them: that what they are made of fits
# together. tests/packages/run makes, installs and tries them.
#
# Outside Bazel, ROOT names the source tree and ARTEFACTS the bazel-bin directory.
set -euo pipefail

root=${ROOT:-$PWD}
artefacts=${ARTEFACTS:-$root}
debian=$root/deploy/debian
# shellcheck source=tests/install/expect.sh
source "$root/tests/install/expect.sh"

work=$(mktemp -d "${TEST_TMPDIR:-${TMPDIR:-/tmp}}/packages.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

# uncommented FILE: the settings of a conffile, those that are commented out, too.
uncommented() {
  sed -E 's/^#([a-z-]+ = )/\1/' "$1"
}

check_settings_are_known() {
  local settings=$work/settings daemon
  for daemon in coordinator worker; do
    uncommented "$debian/$daemon.toml" >"$settings"
    (($(grep -c '^[a-z]' "$settings") > 8)) || die "$daemon.toml has hardly any settings"
    must "$artefacts/$daemon/bsp-$daemon" --config "$settings" --version
    echo 'coordinates = "127.0.0.1:7070"' >>"$settings"
    must_fail 2 'there is no setting coordinates' \
      "$artefacts/$daemon/bsp-$daemon" --config "$settings" --version
  done
  equal "settings of client.toml" "$(uncommented "$debian/client.toml" | sed -n 's/ = .*//p')" \
    $'coordinator\ntls'
}

# setting FILE NAME: its value.
setting() {
  sed -n "s/^$2 = \"\(.*\)\"/\1/p" "$debian/$1.toml"
}

# of_unit DAEMON NAME: the value of a line of its unit.
of_unit() {
  sed -n "s/^$2=//p" "$debian/bspnow-$1.service"
}

check_units_fit_the_settings() {
  local daemon
  for daemon in coordinator worker; do
    equal "ExecStart of the $daemon" "$(of_unit "$daemon" ExecStart)" \
      "/usr/bin/bsp-$daemon --config /etc/bspnow/$daemon.toml"
    equal "state of the $daemon" "/var/lib/$(of_unit "$daemon" StateDirectory)" \
      "$(setting "$daemon" state-dir)"
    contains "what removes it" "$(cat "$debian/bspnow-$daemon.postrm")" \
      "rm -rf $(setting "$daemon" state-dir) "
  done
  contains 'what makes the user' "$(cat "$debian/bspnow-coordinator.postinst")" \
    " $(of_unit coordinator User)"$'\n'
  equal 'where clients and the worker look' "$(setting client coordinator) $(setting worker \
    coordinator)" "$(setting coordinator listen) $(setting coordinator listen)"
}

# Who opens the ports of the manual in a firewall has let through all that the packages use. Metrics
# are for those who ask for them; all other ports are fixed.
check_ports_are_those_of_the_manual() {
  local port daemon option settings rows=0
  while read -r port daemon option; do
    settings=$(cat "$debian/$daemon.toml")
    [[ $option != metrics ]] || settings=$(uncommented "$debian/$daemon.toml")
    contains "$daemon.toml with $option" "$(grep "^$option = " <<<"$settings" || true)" "$port"
    [[ $option == metrics ]] || contains docs/packages.md "$(cat "$root/docs/packages.md")" "$port"
    rows=$((rows + 1))
  done < <(sed -nE 's/^\| (70[0-9]+) \| ([a-z]+) \| .--([a-z-]+). .*/\1 \2 \3/p' \
    "$root/docs/operations.md")
  equal 'ports in the table of docs/operations.md' "$rows" 6
}

# Each file that deploy/install puts somewhere is in one package, or said to be in none.
check_files_are_packaged() {
  local pattern
  local -a found claimed=()
  DESTDIR=$work/tree must "$root/deploy/install" --prefix=/usr --libdir=lib/x86_64-linux-gnu \
    --from-bazel-bin="$artefacts"
  install -D -m 644 -t "$work/tree/etc/bspnow" "$debian"/*.toml
  cd -- "$work/tree" || exit
  while read -r pattern _; do
    mapfile -t found < <(compgen -G "$pattern" || true)
    ((${#found[@]} > 0)) || die "$pattern of *.install is not installed"
    claimed+=("${found[@]}")
  done < <(cat "$debian"/*.install "$debian/not-installed")
  equal 'what is packaged' "$(find "${claimed[@]}" ! -type d | LC_ALL=C sort)" \
    "$(find . ! -type d -printf '%P\n' | LC_ALL=C sort)"
}

check_versions_agree() {
  local version
  version=$("$artefacts/client/bsprun" --version)
  contains 'the changelog' "$(head -1 "$debian/changelog")" "bspnow (${version##* })"
}

# Else a machine would not boot, nor a package be configured, while the coordinator is away; nor
# would it go down for a while, for there are no jobs that could move.
check_worker_is_ready_without_coordinator() {
  local account=own
  ((EUID != 0)) || account=fixed:nobody
  must "$root/tests/packages/ready.py" "$artefacts/worker/bsp-worker" --coordinator 127.0.0.1:1 \
    --name w --state-dir "$work/worker" --accounts "$account" \
    --drain-timeout "$(setting worker drain-timeout)"
}

run_checks settings_are_known units_fit_the_settings ports_are_those_of_the_manual \
  files_are_packaged versions_agree worker_is_ready_without_coordinator
