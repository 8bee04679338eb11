"""What bench/scale's cases share: where things run, members that are started, lines of a table."""

import argparse
import contextlib
import dataclasses
import http.client
import os
import pathlib
import shutil
import socket
import time

from cases import Case
from load import Told, Traffic, ask_for_all, run_wrk
from machine import Deployment, Key, Machine
from processes import BenchError, Group, Process, free_ports, listens, usage_of

START_TIMEOUT_S = 120.0
FIRST_PORT = 10_000
COUNTRY = ("--geo-optional", "--shard-key", "path")


@dataclasses.dataclass(frozen=True)
class Line:
    """One figure of a case."""

    case: str
    of: str  # what was measured
    value: float
    unit: str
    ratio: float | None = None  # by the first of its case
    bar: str = ""  # what it is to be
    met: bool | None = None
    more: str = ""

    def text(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        met = {None: "", True: "met", False: "MISSED"}[self.met]
        cells = f"{self.case:9} {self.of:44} {self.value:12,.3f} {self.unit:8} {ratio:>6}"
        return f"{cells} {self.bar:18} {met:6} {self.more}".rstrip()


def table(lines: list[Line]) -> str:
    head = f"{'case':9} {'of':44} {'value':>12} {'unit':8} {'ratio':>6} {'bar':18} {'':6}".rstrip()
    return "\n".join([head, *(line.text() for line in lines)])


def as_json(lines: list[Line]) -> list[dict]:
    return [dataclasses.asdict(line) for line in lines]


@dataclasses.dataclass
class Lab:
    """One run: what is chosen, and where things run."""

    chosen: argparse.Namespace
    machine: Machine
    traffic: Traffic
    deadline: float  # for quiet moments
    started: int = 0

    @staticmethod
    def of(chosen: argparse.Namespace, tested: int, other: int, directory: pathlib.Path) -> "Lab":
        path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
        programs = {"ringside": chosen.program, "nginx": shutil.which("nginx", path=path),
                    "wrk": shutil.which("wrk", path=path)}
        for name, found in programs.items():
            if not found or not os.access(found, os.X_OK):
                raise BenchError(f"there is no {name}; scripts/setup --bench and scripts/build")
        machine = Machine(tested, other, directory, programs, 10, "path")
        return Lab(chosen, machine, Traffic(programs["wrk"], "", 10_000, chosen.seconds),
                   time.monotonic() + chosen.patience)

    def log(self) -> pathlib.Path:
        self.started += 1
        return self.machine.directory / f"{self.started}.log"

    def member(self, group: Group, core: int | set[int], port: int, *more: str,
               admin: int = 0, threads: int = 1) -> Process:
        """A replica or a sidecar that has begun to start."""
        command = [self.machine.programs["ringside"], *more, "--listen", f"127.0.0.1:{port}",
                   "--admin", f"127.0.0.1:{admin}", "--threads", str(threads),
                   "--log-level", "warning", "--drain-deadline", "1s", "--insecure-peers"]
        process = Process(command, core, self.log(), [port])
        group.processes.append(process)
        return process

    def caches(self, group: Group, core: int | set[int], count: int, memory: str = "64MiB",
               threads: int = 1) -> list[int]:
        """Their ports. They start all at once."""
        ports = fixed_ports(count)
        for index, port in enumerate(ports):
            self.member(group, core, port, "cache", "--name", f"cache-{index}", "--origin",
                        f"http://127.0.0.1:{self.machine.origin}", "--memory", memory,
                        threads=threads)
        wait_for(group, ports)
        return ports

    def sidecar(self, group: Group, core: int | set[int], caches: list[int], *more: str,
                admin: int = 0, threads: int = 1) -> tuple[Process, int]:
        port, = free_ports(1)
        process = self.member(group, core, port, "sidecar", "--replicas", members(caches),
                              *COUNTRY, *more, admin=admin, threads=threads)
        wait_for(group, [port])
        return process, port


def fixed_ports(count: int) -> list[int]:
    """Free ones below those that the kernel gives away, which a thousand processes would be given
    before they get to their own."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="utf-8") as file:
        end = int(file.read().split()[0])
    found: list[int] = []
    for port in range(end - 1, FIRST_PORT, -1):
        if len(found) == count:
            return found
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(("127.0.0.1", port))
            found.append(port)
    raise BenchError(f"there are no {count} free ports below {end}")


def members(ports: list[int], prefix: str = "cache") -> str:
    return ",".join(f"{prefix}-{index}=127.0.0.1:{port}" for index, port in enumerate(ports))


def wait_for(group: Group, ports: list[int]) -> None:
    end = time.monotonic() + START_TIMEOUT_S
    for port in ports:
        while not listens(port):
            for process in group.processes:
                if process.handle.poll() is not None:
                    raise BenchError(f"{process.command[:2]} ended at once:\n{process.tail()}")
            if time.monotonic() > end:
                raise BenchError(f"nobody listens on {port}")
            time.sleep(0.02)


def case_of(size: int, connections: int = 64) -> Case:
    """Of kind fill: as many paths as are wanted."""
    return Case("scale", "", size=size, connections=connections, kind="fill")


def deployment_at(port: int) -> Deployment:
    return Deployment(Key("ringside", "two", 0), "scale", Group(), port)


def warm(lab: Lab, port: int, size: int, paths: int, first: int = 0) -> None:
    """Asks for every path from the first on."""
    traffic = dataclasses.replace(lab.traffic, paths=paths)
    told = ask_for_all(case_of(size), deployment_at(port), traffic, first)
    if told.errors:
        raise BenchError(f"{told.errors} failed answers while warming")


def draw(lab: Lab, port: int, size: int, paths: int, order: str = "draw",
         connections: int = 64) -> Told:
    traffic = dataclasses.replace(lab.traffic, paths=paths)
    told = run_wrk(case_of(size, connections), deployment_at(port), traffic, order, "0",
                   lab.chosen.seconds)
    if told.errors:
        raise BenchError(f"{told.errors} failed answers")
    return told


def cpu_us(pids: list[int]) -> float:
    used = [usage_of(pid) for pid in pids]
    if None in used:
        raise BenchError("a process under test has ended")
    return sum(each.cpu_us() for each in used)


def get(port: int, target: str, method: str = "GET", body: str | None = None,
        headers: dict[str, str] | None = None) -> tuple[int, bytes, str]:
    """(status, body, Cache-Status)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, target, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Cache-Status", "")
    finally:
        connection.close()
