"""Waiting for what other processes do, with a deadline. Deadlines only end what hangs."""

import time

START_S = 120.0
LOOK_EVERY_S = 0.02


class Failed(Exception):
    """Something that a test asked for did not happen."""


def wait_until(condition, what, seconds=START_S):
    """Waits until `condition` returns something true, and returns that."""
    until_s = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > until_s:
            raise Failed(f"{what}: not within {seconds:.0f} s")
        time.sleep(LOOK_EVERY_S)
    return result


def what_stays(find, grace_s):
    """Waits until `find` finds nothing any more; returns what it still finds after `grace_s`."""
    until_s = time.monotonic() + grace_s
    while (found := find()) and time.monotonic() < until_s:
        time.sleep(LOOK_EVERY_S)
    return found
