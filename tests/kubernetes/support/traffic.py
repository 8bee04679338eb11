"""The origin and the clients: processes in the cluster's network, beside the pods."""

import pathlib
import subprocess
import sys
import time

from .records import Key, Record, between, read_fetches, read_records

PACKAGE = pathlib.Path(__file__).resolve().parent
ORIGIN_ADDRESS, ORIGIN_PORT = "10.250.0.1", 8000  # as overlay/ringside.yaml has it
PATHS, COUNTRIES = 2000, 3
RATE = 300  # requests a second
CONNECTIONS = 24


class Helper:
    """A module of this package as a process; ends with its stdin, so with us."""

    END_S = 10

    def __init__(self, module: str, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-m", f"{PACKAGE.name}.{module}", *map(str, arguments)],
            cwd=PACKAGE.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def stop(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(self.END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Origin(Helper):
    """Counts what it is asked for."""

    def __init__(self, folder: pathlib.Path):
        self._log = folder / "origin.log"
        self._log.touch()
        super().__init__("origin", ORIGIN_ADDRESS, ORIGIN_PORT, self._log)
        if not self.process.stdout.readline():
            raise AssertionError("the origin did not start")

    def fetches(self, begin: float, end: float) -> list[Key]:
        return [key for time_s, key in read_fetches(self._log) if begin <= time_s < end]


class Clients(Helper):
    """Traffic all the while."""

    def __init__(self, folder: pathlib.Path, fronts: list[str], rate: float = RATE):
        self._log = folder / f"clients-{time.monotonic_ns()}.log"
        self._log.touch()
        super().__init__("generator", self._log, rate, CONNECTIONS, PATHS, *fronts)

    def records(self, begin: float = 0, end: float = float("inf")) -> list[Record]:
        if self.process.poll() not in (None, 0):
            raise AssertionError(f"the clients ended with {self.process.returncode}")
        return between(read_records(self._log), begin, end)
