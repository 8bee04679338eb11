"""Waits end when what they wait for is there; the deadline is only for what never comes."""

import time

WAIT_S = 180
LOOK_S = 0.05


def wait_until(condition, what: str, wait_s: float = WAIT_S):
    """The first true value of condition(); fails after wait_s."""
    until = time.monotonic() + wait_s
    while not (value := condition()):
        if time.monotonic() > until:
            raise AssertionError(f"waited {wait_s} s in vain for {what}; last: {value!r}")
        time.sleep(LOOK_S)
    return value
