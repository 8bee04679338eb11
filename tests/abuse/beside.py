"""Python programs that run beside a test, in processes of their own: what they measure, or use up,
is not the test's own work."""

import json
import pathlib
import subprocess
import sys

from support import WAIT_S
from support.program import die_with_parent

HERE = pathlib.Path(__file__).parent


class Beside:
    """PROGRAM.py, until end(): it reads a line of JSON, and runs while its input is open."""

    def __init__(self, program: str, **specification):
        self._child = subprocess.Popen(
            [sys.executable, "-B", HERE / f"{program}.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        self._child.stdin.write(json.dumps(specification) + "\n")
        self._child.stdin.flush()

    def end(self) -> dict:
        """What it has to tell: a line of JSON."""
        return json.loads(self._child.communicate("", timeout=WAIT_S)[0])

    def stop(self) -> None:
        """At once, where it has not ended."""
        self._child.kill()
        self._child.communicate()
