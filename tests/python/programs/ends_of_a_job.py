#!/usr/bin/python3
# Source: docs/python.md
# Claim: What ends a job does so clearly: an exception that nobody catches, a place that another
#   process has not registered, an operation that fails, numbers of different types, bsp.abort.
#   Lines printed before are there.
# Cases: uncaught silent beyond operation numbers gather lists abort
# Procs: 2 4
# Env if case == 'lists': BSP_CHECK=full
# Exit: 6
# Order: any
# Stdout: process {pid} prints
# Stderr if case == 'uncaught': ^bspnow: python3 on pid {p - 1}, superstep 1: ZeroDivisionError
#   was not caught: division by zero
# Stderr if case == 'uncaught': ^(Traceback|ZeroDivisionError|\s+\S)
# Stderr if case == 'silent': ^bspnow: python3 on pid 0, superstep 1: KeyboardInterrupt was not
#   caught$
# Stderr if case == 'silent': ^(Traceback|KeyboardInterrupt|\s+\S)
# Stderr if case == 'beyond': ^bspnow: bsp_put on pid \d+, superstep 1: offset 8 \+ 8 bytes is
#   beyond the 8 bytes registered by pid 1 for .*, at ends_of_a_job.py:\d+$
# Stderr if case == 'operation': ^bspnow: python3 on pid \d+, superstep \d+: ArithmeticError was not
#   caught: cannot combine
# Stderr if case == 'numbers': ^bspnow: bsp.reduce on pid \d+, superstep \d+: elements of int64 on
#   one process, and of float64 on another; convert them to one type, at ends_of_a_job.py:\d+$
# Stderr if case == 'gather': ^bspnow: bsp.gather on pid 0, superstep \d+: elements of float64 on
#   one process, and of int64 on another
# Stderr if case == 'lists': ^bspnow: bsp.reduce on pid \d+, superstep \d+: elements of int64 on one
# Stderr if case == 'operation': ^(Traceback|ArithmeticError|\s+\S)
# Stderr if case == 'abort': ^process \d+ gives up$
import sys

import bsp
import numpy as np



def refuse(left, right):
    raise ArithmeticError("cannot combine")


bsp.begin()
print(f"process {bsp.pid()} prints")
area = np.zeros(1 if bsp.pid() == 1 else 2)
bsp.push_reg(area)
bsp.sync()
if sys.argv[1] == "uncaught" and bsp.pid() == bsp.nprocs() - 1:
    1 / 0
if sys.argv[1] == "silent" and bsp.pid() == 0:
    raise KeyboardInterrupt
if sys.argv[1] == "beyond":
    bsp.put(1, 2.0, area, 1)
if sys.argv[1] == "operation":
    bsp.reduce(1, refuse)
first = bsp.pid() == 0
if sys.argv[1] == "numbers":
    bsp.reduce(0 if first else 0.5)
if sys.argv[1] == "gather":
    bsp.gather(0, 1 if first else 0.5)
if sys.argv[1] == "lists":
    bsp.reduce([0, 1] if first else [0.5, 1])
if sys.argv[1] == "abort":
    bsp.abort(f"process {bsp.pid()} gives up")
bsp.sync()
print("no error")
bsp.end()
