"""A Python program that iterates for some seconds and prints a line of each superstep."""

import time

import bsp
import numpy as np

STEPS = 250

bsp.begin()
p, me = bsp.nprocs(), bsp.pid()
given = np.zeros(4)
bsp.push_reg(given)
bsp.sync()
history = {}
for step in range(STEPS):
    bsp.put((me + 1) % p, given + [1, 2, me, step], given)
    bsp.send(0, np.array([me, step]))
    bsp.sync()
    history[step] = given.sum()
    received = sum(int(message.sum()) for message in bsp.messages(np.int64))
    if me == 0:
        print(step, history[step], received, len(history))
    time.sleep(0.02)
bsp.end()
