"""Requests: those that warm a cache, and wrk's that are measured."""

import dataclasses
import http.client
import json
import os
import pathlib
import subprocess

from processes import BenchError, busy_us, cpu_us_between, own_us
from servers import Case

SCRIPT = pathlib.Path(__file__).with_name("load.lua")


@dataclasses.dataclass(frozen=True)
class Traffic:
    """The same for every server. Requests differ in the number at the end of the path only."""

    paths: int
    connections: int
    core: int
    wrk: str
    seed: int = 11


@dataclasses.dataclass(frozen=True)
class Round:
    """One measured run of wrk against one case."""

    requests: int
    requests_per_s: float
    cpu_us_per_request: float
    cpu_share: float  # of the tested core, 1 where the servers had it all the time
    others_share: float  # of one core: what neither the servers nor this script took of the machine
    p50_us: int
    p99_us: int
    origin_requests: int


def fetched(origin: int) -> int:
    """How many requests the origin has had, this one included (nginx's stub_status)."""
    connection = http.client.HTTPConnection("127.0.0.1", origin, timeout=10)
    connection.request("GET", "/requests")
    words = connection.getresponse().read().split()
    connection.close()
    return int(words[words.index(b"requests") + 3])


def warm(case: Case, size: int, traffic: Traffic) -> None:
    """Asks for every path once. Each answer must be right: a fast wrong answer is no result."""
    connection = http.client.HTTPConnection("127.0.0.1", case.port, timeout=10)
    for number in range(1, traffic.paths + 1):
        connection.request("GET", f"/{size}/{number}")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200 or len(body) != size:
            raise BenchError(f"{case.server}, {case.hops} hops: GET /{size}/{number} gave "
                             f"{answer.status} and {len(body)} bytes in place of 200 and {size}")
        if answer.will_close:
            connection.close()
    connection.close()


def run_wrk(case: Case, size: int, traffic: Traffic, seconds: int) -> dict:
    command = [traffic.wrk, "--threads", "1", "--connections", str(traffic.connections),
               "--duration", f"{seconds}s", "--script", str(SCRIPT),
               f"http://127.0.0.1:{case.port}/", "--", str(size), str(traffic.paths),
               str(traffic.seed)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, preexec_fn=lambda: os.sched_setaffinity(0, {traffic.core}))
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        raise BenchError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    told = json.loads(lines[0])
    if any(told["errors"].values()) or told["requests"] == 0:
        raise BenchError(f"{case.server}, {case.hops} hops, {size} bytes: wrk saw {told}")
    return told


def measure(case: Case, size: int, traffic: Traffic, seconds: int, origin: int) -> Round:
    fetched_before = fetched(origin)
    before = case.group.cpu_ticks()
    others_before = busy_us() - own_us()
    told = run_wrk(case, size, traffic, seconds)
    others_us = busy_us() - own_us() - others_before
    cpu_us = cpu_us_between(before, case.group.cpu_ticks())
    origin_requests = fetched(origin) - fetched_before - 1  # our own question
    return Round(
        requests=told["requests"],
        requests_per_s=told["requests"] / told["duration_us"] * 1e6,
        cpu_us_per_request=cpu_us / told["requests"],
        cpu_share=cpu_us / told["duration_us"],
        others_share=max(0.0, others_us - cpu_us) / told["duration_us"],
        p50_us=told["p50_us"],
        p99_us=told["p99_us"],
        origin_requests=origin_requests,
    )
