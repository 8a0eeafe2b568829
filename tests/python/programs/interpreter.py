#!/usr/bin/python3
"""An interpreter that has something of everything when it is saved: arrays that are registered,
messages that are not read, generators, exceptions, open files, modules, locks."""

import collections
import os
import random
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../../runtime/python"))

# pylint: disable=wrong-import-position
import bsp
import numpy as np


def squares():
    number = 0
    while True:
        yield number * number
        number += 1


def main():
    bsp.begin()
    area = np.zeros(1000)
    bsp.push_reg(area)
    bsp.sync()
    generator, lock, words = squares(), threading.Lock(), collections.Counter()
    random.seed(7)
    matrix = np.eye(50)
    with open("notes", "w+", encoding="utf-8") as notes:
        for step in range(5):
            bsp.put(0, area[:10] + step, area, 10 * step)
            bsp.send(0, np.arange(step + 1))
            notes.write(f"step {step}\n")
            bsp.sync()
            words.update(re.findall(r"\w", f"superstep {step}"))
            matrix = matrix @ (np.eye(50) + 0.01)
            with lock:
                received = [message.tolist() for message in bsp.messages(np.int64)]
            try:
                raise ValueError(step)
            except ValueError as error:
                caught = error.args
            print(step, next(generator), random.random(), received, caught, area[:50].sum(),
                  f"{matrix.sum():.6f}", words.most_common(2))
        notes.seek(0)
        print(notes.read().split())
    bsp.end()


main()
