#!/usr/bin/python3
"""bench_puts.py SECONDS: bench_puts.c from Python, over numpy arrays."""

import statistics
import sys
import time

import bsp
import numpy as np

SMALL_PUTS, LARGE_PUTS, LARGE_NUMBERS = 4096, 8, (1 << 20) // 8


def measure(name, seconds, area, source, puts):
    to, count, samples = (bsp.pid() + 1) % bsp.nprocs(), len(source), []
    going = np.ones(1, dtype=np.int32)
    bsp.push_reg(going)
    bsp.sync()
    end = time.monotonic() + seconds
    while going[0]:
        start = time.monotonic()
        for i in range(puts):
            bsp.put(to, source, area, i * count)
        bsp.sync()
        samples.append((time.monotonic() - start) / puts)
        if bsp.pid() == 0:
            more = int(time.monotonic() < end)
            for pid in range(bsp.nprocs()):
                bsp.put(pid, more, going)
        bsp.sync()
    if area[0] != source[0] or area[puts * count - 1] != source[-1]:
        sys.exit(f"wrong result: {name}")
    if bsp.pid() == 0:
        print(f"figure {name} {statistics.median(samples):.9g}")


bsp.begin()
everything = np.ones(LARGE_PUTS * LARGE_NUMBERS)
numbers = np.arange(LARGE_NUMBERS) + 1.5
bsp.push_reg(everything)
bsp.sync()
measure("put.8", float(sys.argv[1]), everything, numbers[:1], SMALL_PUTS)
measure("put.1048576", float(sys.argv[1]), everything, numbers, LARGE_PUTS)
bsp.end()
