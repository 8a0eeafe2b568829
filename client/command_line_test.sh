#!/usr/bin/env bash
# What bsp and bsprun answer without a cluster: who does what, messages, exit statuses.
#
#   command_line_test.sh BSPRUN
set -euo pipefail

bsprun=$(readlink -f -- "$1")
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/command_line.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"
mkdir bin
ln -s "$bsprun" bin/bsp
ln -s "$bsprun" bin/bsprun
export PATH=$work/bin:/usr/bin:/bin
unset BSP_COORDINATOR BSP_NPROCS BSP_TLS
export BSP_CLUSTER_FILE=$work/none # Not the cluster of whoever runs this.
nobody=127.0.0.1:1
failures=0

# says STATUS TEXT COMMAND...: the command ends with this status, and TEXT is in what it prints.
says() {
  local status=0 wanted=$1 text=$2 output
  shift 2
  output=$("$@" 2>&1 </dev/null) || status=$?
  if [[ $status != "$wanted" || $output != *"$text"* ]]; then
    printf '%s\n  ended with %s instead of %s, and said:\n%s\n  instead of: %s\n' \
      "$*" "$status" "$wanted" "$output" "$text"
    failures=$((failures + 1))
  fi
}

touch data
says 0 'bsp (bspnow) 0.' bsp --version
says 0 'bsprun (bspnow) 0.' bsprun --version
says 0 'Submit a job' bsp --help
says 1 'bsp: writing standard output: No space left on device' bash -c 'bsp --help >/dev/full'
for answer in 'bsprun --help' 'bsprun --version' 'bsp run --help'; do
  says 1 "${answer%% *}: writing standard output: No space left on device" \
    bash -c "$answer >/dev/full"
done
says 1 'bsp: writing standard output: No space left on device' bash -c \
  'bsp certs init authority >/dev/full'
says 0 '--constraint' bsp submit --help
for to in '/dev/full: No space left on device' '&-: Bad file descriptor'; do
  says 1 "bsprun: writing standard output: ${to#*: }" bash -c "bsprun -n 1 echo hi >${to%%: *}"
done
# Nothing that is opened meanwhile takes the place of what is closed.
says 1 'bsp: writing standard output: Bad file descriptor' bash -c 'bsp certs init closed >&-'
mkdir apart
cp -L bin/bsp apart/bsp
ln -s bsp apart/bsprun
printf '#!/bin/sh\nreadlink "/proc/$$/fd/0"\n' >apart/bsp-client
chmod +x apart/bsp-client
says 0 /dev/null bash -c 'exec apart/bsp jobs <&-'
says 0 /dev/null bash -c "exec apart/bsprun --coordinator $nobody -n 1 true <&-"
says 0 'limit: 1' bash -c 'ulimit -f 0; bsp certs init small >/dev/null 2>&1; echo "limit: $?"'

for few in "bsp jobs --coordinator $nobody" "bsprun --coordinator $nobody -n 1 true"; do
  says 1 "${few%% *}: this needs 24 descriptors besides the 3 that are open, and 5 are allowed" \
    bash -c "ulimit -n 5; exec $few"
done
says 0 'Submit a job' bash -c 'ulimit -n 5; exec bsp --help'

says 0 'bsp (bspnow) 0.' bsp version --json
says 2 'bsp: -n is required' bsp submit true
says 2 'bsprun: -n: 2 values; give one; see bsprun --help' bsprun -n 2 -np 3 true
says 2 'bsp: --name: 2 values; give one; see bsp submit --help' \
  bsp submit -n 2 --name a --name b true
# The program's options are its own; no coordinator is asked before the command line is read.
for command in submit run; do
  says 1 "no coordinator answers at $nobody" \
    bsp --coordinator $nobody "$command" --reconnect-timeout 0 -n 2 --name a -- true -n x
done
says 2 'unknown option --nprocess' bsp submit -n 2 --nprocess 3 -- true
says 2 'bsp: --json goes after show; see bsp show --help' bsp --json show 3
says 2 '--last: Value 0 not in range 1 to' bsp jobs --last 0
says 2 'bsp: --interval: soon is no time; write it as in 500ms' bsp top --interval soon
says 1 'no coordinator' bsp top --interval 1.5s

# As mpirun has it; a program's own -np is its own.
says 0 'hi -np 3' bash -c 'bsprun -np 1 echo hi -np 3 || true'
says 0 'hi -np 3' bash -c 'bsp run --dir . -np 1 echo hi -np 3 || true'
says 2 '-n: x is no number of processes; write 1 to 16384' bsprun -np x true
# Else the word after it would be its value.
says 2 'bsp: --coordinator= has no value' bsp --coordinator= jobs
says 2 'bsp: --coordinator= has no value' bsp jobs --coordinator= -a
says 2 'bsprun: --checkpoint= has no value' bsprun --checkpoint= off true
says 2 'bsprun: --tls= has no value' env BSP_COORDINATOR=$nobody bsprun --tls= -n 1 true
says 0 'hi --tls= 3' bash -c 'bsprun -n 1 echo hi --tls= 3 || true'
says 2 '0 is no number of processes; write 1 to 16384, with -n or in BSP_NPROCS' \
  env BSP_NPROCS=0 bsprun true
says 1 "no coordinator answers at $nobody" env BSP_NPROCS=all bsp jobs --coordinator $nobody
says 2 'bsp: unknown option -n; see bsp --help' bsp -n 2 ./hello
# Decimal, as Slurm and mpirun have it: not eight, and not the job 2^64 - 1.
says 0 10 bash -c 'bsprun -n 010 echo hi 2>/dev/null | wc -l'
says 2 '0x2 is no number of processes' bsprun -n 0x2 true
says 2 'JOB: -1 is no job; write its id' bsp logs -1
says 2 'JOB: 3-7 is no job; write its id' bsp fetch 3-7
says 2 '--count: -1 is no whole number' bsp top --count -1
says 1 "no coordinator answers at $nobody" \
  bsp submit --reconnect-timeout 0 --coordinator $nobody -np 2 true
says 1 "no coordinator answers at $nobody; trying again for 1 s" \
  bsp submit --reconnect-timeout 1s --coordinator $nobody -n 2 true
says 1 "no coordinator answers at $nobody" env BSP_COORDINATOR=$nobody bsprun -np 2 true

says 2 'no command scontrol; did you mean suspend?' bsp scontrol suspend 5
says 2 'no command scontrol; did you mean alter?' bsp scontrol update JobId=5
says 2 'no command scontrol; did you mean show?' bsp scontrol

# Nobody writes to them: reading would wait for ever.
mkfifo pipe program_pipe
chmod +x program_pipe
says 126 'program ./program_pipe is no ordinary file' timeout 20 bsprun -n 1 ./program_pipe
says 1 'file pipe is no ordinary file' \
  timeout 20 bsp submit -n 1 --coordinator $nobody --reconnect-timeout 0 --file pipe true
says 1 'file pipe is no ordinary file' \
  timeout 20 bsp submit -n 1 --coordinator $nobody --reconnect-timeout 0 --input pipe true

# A job of this machine needs no coordinator, everything else does.
says 0 'hi' bash -c 'bsprun -n 1 echo hi || true'
says 0 'hi' bash -c 'bsp run -n 1 echo hi || true'
says 1 'no coordinator is named; give --coordinator HOST:PORT, or set BSP_COORDINATOR' bsp jobs
echo "coordinator = \"$nobody\"" >client.toml
says 1 "no coordinator answers at $nobody" env BSP_CLUSTER_FILE=client.toml bsp suspend 7
says 0 'hi' env BSP_CLUSTER_FILE=client.toml bash -c 'bsprun -n 1 echo hi || true'
says 2 '--nodes needs a cluster' bsprun --nodes 2 -n 2 true
says 2 '--checkpoint needs a cluster' bsprun --checkpoint=every=2s -n 2 true
says 0 'hi' bash -c 'bsprun --checkpoint auto -n 1 echo hi || true'
says 2 '--max-restarts needs a cluster' bsprun --max-restarts 1 -n 2 true
says 2 '--reconnect-timeout needs a cluster' bsprun --reconnect-timeout 60s -n 2 true
says 0 'hi' bash -c 'bsprun --checkpoint=off -n 1 echo hi || true'
says 1 'no coordinator is named' bsp suspend 7
says 125 'no coordinator is named' bsp wait 7
says 125 "no coordinator answers at $nobody" \
  bsp wait --reconnect-timeout 0 --coordinator $nobody 7
says 2 'soon is no time' bsp suspend --timeout soon 7
says 1 "no coordinator answers at $nobody" bsp --coordinator $nobody jobs
says 1 "no coordinator answers at $nobody" bsp jobs --coordinator $nobody
says 1 "no coordinator answers at $nobody" env BSP_COORDINATOR=$nobody bsprun -n 2 true
says 1 "no coordinator answers at $nobody" env BSP_COORDINATOR=$nobody bsp run -n 2 true
says 1 "no coordinator answers at $nobody" env BSP_COORDINATOR=127.0.0.1:2 \
  bsp --coordinator $nobody jobs

# What the coordinator is called.
says 1 "--coordinator: 'foo:bar' is not HOST:PORT: the port is a number up to 65535" \
  bsp jobs --coordinator foo:bar
says 1 "BSP_COORDINATOR: '[::1]:99999' is not HOST:PORT: the port is a number" \
  env 'BSP_COORDINATOR=[::1]:99999' bsprun -n 2 true
says 1 'an IPv6 address, and nothing else, stands in brackets' bsp jobs --coordinator ::1
says 1 'the coordinator nobody.invalid:7070: ' bsp jobs --coordinator nobody.invalid

# The command line.
says 2 'bsp: A subcommand is required; see bsp --help' bsp
says 2 'bsp: no command frobnicate; see bsp --help' bsp frobnicate
says 2 'bsp: no command frobnicate; see bsp --help' bsp --coordinator $nobody frobnicate
says 2 'bsp: no command frobnicate; see bsp --help' bsp help frobnicate
says 2 'bsp: no command job; did you mean jobs?; see bsp --help' bsp job
says 2 'bsp: no command sub; did you mean submit?; see bsp --help' bsp sub
says 2 'unknown option --promt; see bsprun --help' bsprun --promt true
says 2 "unknown option --input; it is bsp submit's; see bsprun --help" bsprun --input f true
says 2 "unknown option --timing; it is bsprun's; see bsp submit --help" \
  bsp submit -n 2 --timing true
says 2 'unknown option --ndoes; did you mean --nodes?; see bsp submit --help' \
  bsp submit -n 2 --ndoes 3 true
says 2 'unknown option --ntasks; did you mean -n?; see bsp submit --help' \
  bsp submit -n 2 --ntasks 2 true
says 2 'unknown option -t; did you mean --time-limit?; see bsp submit' bsp submit -n 2 -t 5 true
says 2 'bsp: unknown option -t; did you mean --time-limit?; see bsp submit' \
  bsp submit -t 5 -n 2 true
says 2 'bsp: unknown option --ntasks; did you mean -n?; see bsp submit' bsp submit --ntasks 2 true
says 2 'did you mean --state?; see bsp jobs --help' bsp jobs -t PD
says 2 'bsp: no command squeue; did you mean jobs?; see bsp --help' bsp squeue
says 2 'bsp: no command kill; did you mean cancel?; see bsp --help' bsp kill 7
says 2 '-n stands after the program, and so is an argument of it: write -n before ./a.out' \
  bsp submit ./a.out -n 4
says 127 '-np stands after the program' bsprun ./no_such_program -np 4
says 127 'not found; give its path, as in ./no_such_program; -n stands after' \
  bsprun no_such_program x -n 4
says 0 'hi -n 3' bash -c 'bsprun -n 1 echo hi -n 3 || true'
says 2 'bsp: unknown option --jason; did you mean --json?; see bsp show --help' bsp show 3 --jason
says 2 'bsp: unknown option -n; did you mean --name?; see bsp cancel --help' bsp cancel -n sort
says 2 'bsp: unknown option -S; did you mean --since?; see' bsp history -S 2026-11-20
says 2 'unknown option --bind-to; it is not needed here; see' bsprun -n 2 --bind-to core true
says 2 'bsp: no command frobnicate; see bsp certs --help' bsp certs frobnicate
says 2 'did you mean issue?; see bsp certs --help' bsp certs isue
printf '#!/bin/sh\n#SBATCH --ntasks=2\nsrun ./a.out\n' >job.sh
chmod +x job.sh
says 1 'warning: the lines of #SBATCH in ./job.sh are not read' bsp submit -n 2 ./job.sh
says 0 'Usage: bsp submit [OPTIONS] PROGRAM [ARGUMENT...]' bsp submit --help
says 0 'Usage: bsprun [OPTIONS] PROGRAM [ARGUMENT...]' bsprun --help
says 0 'Usage: bsp run [OPTIONS] PROGRAM [ARGUMENT...]' bsp run --help
for command in 'alter --name x' show wait suspend history; do
  # shellcheck disable=SC2086
  says 2 'JOB: 7-3 is no job; write its id, or several as in 3-7; see' bsp $command 7-3
done
says 2 'JOB: 2-18446744073709551615: more than 100000 jobs' bsp wait 1 2-18446744073709551615
says 1 'no coordinator is named' bsp show 3-7 9
# What pkill and top find: not the name of the program that it goes on as. It tries for a while.
# shellcheck disable=SC2016
says 0 bsp timeout 60 env BSP_COORDINATOR=$nobody bash -c '
  bsp submit -n 1 --reconnect-timeout 30s true 2>/dev/null &
  until [[ $(readlink /proc/$!/exe) == */bsp-client ]]; do :; done
  until grep -x bsp /proc/$!/comm; do :; done
  kill $!'
says 0 'Submit a job' bsp help
says 0 '--constraint' bsp help submit
says 0 'bsp (bspnow) 0.' bsp version
says 2 'see bsp submit --help' bsp submit -n 2 --priority x true
says 2 'see bsp show --help' bsp show x
says 2 'unknown option --frobnicate; see bsp submit --help' bsp submit -n 2 --frobnicate true
says 2 '3x is no time' bsp submit -n 2 --time-limit 3x true
says 2 'every=3x is no policy; write auto, off, every=N' bsp submit -n 2 --checkpoint=every=3x true
says 2 '--max-restarts' bsp submit -n 2 --max-restarts -1 true
says 2 'required' bsp checkpoint
says 2 '--cpu' bsp submit -n 2 --cpu newest true
says 2 '4X is no size' bsp submit -n 2 --memory 4X true
says 2 'is neither PATH nor NAME=PATH' bsp submit -n 2 --file ../up=data true
for wrong in VARIABLE =x 'A B=c' $'A\nB=c'; do
  says 2 "--env: $wrong is not NAME=VALUE" bsprun -n 2 --env "$wrong" true
  says 2 "--env: $wrong is not NAME=VALUE" bsp submit -n 2 --env "$wrong" true
done
says 2 '--nodes: 0 is no number; write 1 or more' bsp submit -n 2 --nodes 0 true
says 2 '--per-node: 0 is no number; write 1 or more' bsp submit -n 2 --per-node 0 true
says 1 'bsprun: cannot run in the directory data (--dir): Not a directory' \
  bsprun --dir data -n 1 true
says 1 "no coordinator answers at $nobody" \
  bsprun --coordinator $nobody --dir /on/the/nodes -n 1 true
says 2 '--dir: a directory needs a name' bsprun --dir '' -n 1 true
says 2 '--dir: data is relative; give the path that the nodes have' bsp submit -n 2 --dir data true
says 2 '--simulate: 4,1,1,25 is no machine; write g=,l= and' bsprun --simulate=4,1,1,25 true
says 2 '--simulate: g=1 is no machine' bsp run --simulate g=1 true
says 2 '--simulate runs on this machine; leave --coordinator out' \
  bsprun --simulate=g=1,l=1 --coordinator $nobody true
says 2 'bsp: --simulate runs on this machine; leave --coordinator out; see bsp run --help' \
  bsp --coordinator $nobody run --simulate=g=1,l=1 true
says 2 '--simulate runs on this machine; leave --tls out' \
  bsp --tls tls run --simulate=g=1,l=1 true
says 1 '-n 5000: one machine runs at most 4096 processes of a job' \
  env BSP_COORDINATOR=$nobody bsprun --simulate=p=5000,g=1,l=1 true
says 2 'BSP_CHECK=1 checks nothing; write BSP_CHECK=full' env BSP_CHECK=1 bsprun -n 1 true
says 2 'BSP_CHECK=1 checks nothing' bsprun -n 1 --env BSP_CHECK=full --env BSP_CHECK=1 true
says 2 'BSP_CHECK=1 checks nothing' bsp submit -n 1 --env BSP_CHECK=1 true
says 1 "no coordinator answers at $nobody" \
  bsp submit --reconnect-timeout 0 --coordinator $nobody -n 1 --env BSP_CHECK=full "$bsprun"
says 0 'hi' bash -c 'BSP_CHECK=1 bsprun --env BSP_CHECK=full -n 1 echo hi || true'
says 2 '--input: File does not exist: /no/such' bsp submit -n 2 --input /no/such true
says 2 'required' bsp submit true
says 2 'no program given; usage: bsp submit -n P PROGRAM [ARGUMENT...]' bsp submit -n 2
says 2 'required' bsp show

# What bsp probe starts, beside it.
mkdir beside
cp -- "$bsprun" beside/bsprun
cp -- "${bsprun%/*}/bsp-client" beside/bsp-client
ln -s bsprun beside/bsp
ln -s /bin/true beside/bsp-probe
says 1 'no_tls/ca.crt' beside/bsp probe --tls no_tls --coordinator $nobody -n 1

# Jobs that are picked out, and what is asked of them.
says 2 'which jobs? Give ids, or --name, --user or --state' bsp cancel
says 2 '7-3 is no job; write its id, or several as in 3-7' bsp cancel 7-3
says 2 '--state' bsp cancel --state late
says 1 "no coordinator answers at $nobody" bsp cancel --coordinator $nobody 3-7 9
says 2 'nothing to change is given' bsp alter 7
says 2 'soon is no time' bsp alter 7 --time soon
says 2 '--pid is required' bsp attach 7

# Where output goes.
says 2 'out-%x: after % comes j' bsp submit -n 2 --output out-%x true
says 2 'out-%: after % comes j' bsprun -n 2 --output out-% true
says 1 '--output no/such-%j: No such file or directory' \
  bsp submit --coordinator $nobody -n 2 --wait --output no/such-%j "$bsprun"
says 1 'out-%j: a job on this machine has no id; leave %j out' bsprun -n 1 --output out-%j true
says 1 '--output no/such: No such file or directory' bsprun -n 1 --output no/such true
says 0 'hi' bash -c 'bsprun -n 1 --output out echo hi 2>/dev/null; cat out'
says 1 'BSP_ADDRESS_SPACE=99999999999G is no size' \
  env BSP_ADDRESS_SPACE=99999999999G bsprun -n 1 true
says 0 'hi' bash -c 'BSP_ADDRESS_SPACE=8GB bsprun -n 1 echo hi || true'
says 0 'BSP_PID=0' bash -c 'bsprun -n 1 --env BSP_PID=7 env || true'
says 137 'pid 0 (OS pid ' bsprun -n 1 timeout -s KILL 0.1 sleep 9

# The program.
says 127 'no_such_program not found' bsp submit --coordinator $nobody -n 2 ./no_such_program
says 126 'data is not executable' bsp submit --coordinator $nobody -n 2 ./data
echo 'exit 0' >no_script
chmod +x no_script
says 126 'no_script is neither a compiled program nor a script' \
  bsp submit --coordinator $nobody -n 2 ./no_script
says 126 'no_script is neither' bsprun --coordinator $nobody -n 2 ./no_script
says 126 'no_script is neither' bsprun -n 2 ./no_script
says 127 'no_such_program not found' bsprun --coordinator $nobody -n 2 ./no_such_program
says 1 'true is not linked with libbsp' \
  bsp submit --reconnect-timeout 0 --coordinator $nobody -n 2 true
says 1 'file no_such_file: No such file' \
  bsp submit --coordinator $nobody -n 2 --file no_such_file true

((failures == 0))
