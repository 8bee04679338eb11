"""One round: the load of a case at one deployment, and what its processes had meanwhile."""

import dataclasses
import os
import select
import shutil
import signal
import subprocess
import time

from beside import beside, follow, told_beside
from cases import Case
from load import Told, Traffic, ask_for_all, fetched, run_paced, run_wrk
from machine import Deployment, Machine
from processes import Usage, busy_us, own_us, used_between

ATTACH_S = 10  # at most, until perf counts
CALLS = "raw_syscalls:sys_enter"


@dataclasses.dataclass(frozen=True)
class Round:
    """Figures per request are None where nobody asked."""

    requests: int
    requests_per_s: float
    cpu_us_per_request: float | None
    user_us_per_request: float | None
    system_us_per_request: float | None
    front_us_per_request: float | None  # of two hops the first
    caches_us_per_request: float | None
    switches_per_request: float | None
    cpu_share: float  # of the tested core, 1 where the servers had it all the time
    others_share: float  # of one core: of the machine, what is none of the bench
    p50_us: float | None
    p99_us: float | None
    p999_us: float | None
    pss_mib: float
    origin_requests: int
    errors: int
    beside: str = ""


def per_request(value: float, requests: int) -> float | None:
    return value / requests if requests else None


def round_of(told: Told, hops: dict[str, Usage], all_us: float, pss_mib: float,
             origin_requests: int, beside_it: str = "") -> Round:
    used = sum(hops.values(), Usage())
    requests = told.requests
    front, caches = hops.get("front"), hops.get("caches", Usage())
    return Round(
        requests=requests,
        requests_per_s=requests / told.duration_us * 1e6,
        cpu_us_per_request=per_request(used.cpu_us(), requests),
        user_us_per_request=per_request(used.user_us(), requests),
        system_us_per_request=per_request(used.cpu_us() - used.user_us(), requests),
        front_us_per_request=per_request(front.cpu_us(), requests) if front else None,
        caches_us_per_request=per_request(caches.cpu_us(), requests) if front else None,
        switches_per_request=per_request(used.switches, requests),
        cpu_share=used.cpu_us() / told.duration_us,
        others_share=max(0.0, all_us - used.cpu_us()) / told.duration_us,
        p50_us=told.p50_us, p99_us=told.p99_us, p999_us=told.p999_us,
        pss_mib=pss_mib,
        origin_requests=origin_requests,
        errors=told.errors,
        beside=beside_it,
    )


def load(case: Case, deployment: Deployment, traffic: Traffic, salt: str) -> tuple[Told, int, str]:
    """What the clients of a round saw, how many requests the origin has to have had (-1: who
    knows), and what went on beside."""
    if case.kind == "idle":
        time.sleep(traffic.seconds)
        return Told(0, traffic.seconds * 1e6), -1, ""
    if case.kind == "followers":
        return *follow(deployment.port, case.connections, salt, traffic.seconds), ""
    if case.kind == "fill":
        return ask_for_all(case, deployment, traffic), -1, ""
    if case.kind == "steady":
        return run_paced(case, deployment, traffic), 0, ""
    order = "log" if case.kind == "log" else "draw"
    with beside(case.beside, deployment.port, traffic.seconds) as running:
        told = run_wrk(case, deployment, traffic, order, salt, traffic.seconds)
    text = told_beside(case.beside, running)
    if running and running.failed:
        told = dataclasses.replace(told, errors=told.errors + 1)
    return told, (0 if case.all_hits() else -1) + bool(case.beside), text


def used_by_all(machine: Machine) -> float:
    """What the machine had to do in us, but for this script, wrk and the origin."""
    origin = used_between({}, machine.origin_group.usage()).values()
    return busy_us() - own_us() - sum(origin, Usage()).cpu_us()


def measure(case: Case, deployment: Deployment, traffic: Traffic, salt: str,
            machine: Machine) -> tuple[Round, str]:
    """Also tells what is wrong with the round, nothing mostly."""
    fetched_before = fetched(machine.origin)
    before = deployment.group.usage()
    all_before = used_by_all(machine)
    told, expected, beside_it = load(case, deployment, traffic, salt)
    all_us = used_by_all(machine) - all_before
    hops = used_between(before, deployment.group.usage())
    origin_requests = fetched(machine.origin) - fetched_before - 1  # our own question
    done = round_of(told, hops, all_us, deployment.group.pss_mib(), origin_requests, beside_it)
    return done, mistake(done, expected, case.kind != "idle")


def mistake(done: Round, expected: int, asked: bool = True) -> str:
    if asked and not done.requests:
        return "no answer at all"
    if done.errors:
        return f"{done.errors:,} failed answers {done.beside}".strip()
    if 0 <= expected < done.origin_requests:
        return f"the origin was asked {done.origin_requests:,} times in place of {expected:,}"
    return ""


def why_no_calls() -> str:
    """Why system calls cannot be counted here; nothing where they can."""
    perf = shutil.which("perf")
    if perf is None:
        return "there is no perf (scripts/setup --bench)"
    done = subprocess.run([perf, "stat", "-e", CALLS, "true"],
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"perf may not count {CALLS} here"


def calls_in(counted: str) -> int | None:
    """The count in the output of `perf stat -x,`."""
    for line in counted.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2].startswith(CALLS):
            return int(fields[0]) if fields[0].isdigit() else None
    return None


class CallCounter:
    """perf, counting the system calls of processes and of all threads that they have or start."""

    def __init__(self, pids: list[int]):
        read_order, self.order = os.pipe()
        self.done, write_done = os.pipe()
        self.perf = subprocess.Popen(
            ["perf", "stat", "-x,", "-e", CALLS, "-p", ",".join(map(str, pids)), "--delay", "-1",
             "--control", f"fd:{read_order},{write_done}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            pass_fds=(read_order, write_done))
        os.close(read_order)
        os.close(write_done)

    def begin(self) -> bool:
        """Returns when it counts, which takes a while where there are many threads."""
        try:
            os.write(self.order, b"enable\n")
        except BrokenPipeError:  # it has ended
            return False
        ready, _, _ = select.select([self.done], [], [], ATTACH_S)
        return bool(ready) and os.read(self.done, 16).startswith(b"ack")

    def end(self) -> int | None:
        self.perf.send_signal(signal.SIGINT)
        _, counted = self.perf.communicate(timeout=10)
        os.close(self.order)
        os.close(self.done)
        return calls_in(counted)


def calls_per_request(case: Case, deployment: Deployment, traffic: Traffic,
                      salt: str) -> float | None:
    """In a round of its own, since counting costs the servers time."""
    if case.kind not in ("load", "log") or case.beside:
        return None
    short = dataclasses.replace(traffic, seconds=case.least_seconds)
    counter = CallCounter(list(deployment.group.pids()))
    requests, counts = 0, False
    try:
        if counts := counter.begin():
            requests = load(case, deployment, short, salt)[0].requests
    finally:
        calls = counter.end()
    return per_request(calls, requests) if counts and calls is not None else None
