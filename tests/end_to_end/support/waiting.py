"""Waits end when what they wait for is there; the deadline is only for what never comes."""

import time

WAIT_S = 60
LOOK_S = 0.02


def wait_until(condition, what: str):
    """The first true value of condition(); fails after WAIT_S."""
    until = time.monotonic() + WAIT_S
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"waited {WAIT_S} s in vain for {what}; last: {value!r}")
        time.sleep(LOOK_S)
