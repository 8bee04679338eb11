"""bench/scale's cases that are CPU time per request: replicas, keys, threads."""

import concurrent.futures
import os
import statistics
import subprocess
from collections.abc import Iterator

from load import fetched
from processes import BenchError, Group, wait_for_quiet
from scaled import Lab, Line, cpu_us, draw, warm

PAGE_BYTES = 1024
SMALL_BYTES = 100
PATHS = 10_000
FLAT = 1.1  # what is called flat
FEWEST_KEYS = 10_000
OBJECT_BYTES = 2048  # what a replica counts for a small one, and room
LOST_DIVISOR = 1000  # what wrk had under way when it ended may not be stored


def powers(first: int, most: int) -> list[int]:
    """first, ten times that and so on; the last is `most`."""
    found = []
    while first < most:
        found.append(first)
        first *= 10
    return [*found, most]


def medians(lab: Lab, port: int, size: int, paths: int, pids: list[list[int]],
            order: str = "draw") -> list[float]:
    """CPU time per request in us of each group of processes."""
    rounds = []
    for _ in range(lab.chosen.rounds):
        wait_for_quiet(lab.deadline)
        before = [cpu_us(each) for each in pids]
        told = draw(lab, port, size, paths, order)
        rounds.append([(cpu_us(each) - was) / told.requests for each, was in zip(pids, before)])
    return [statistics.median(column) for column in zip(*rounds)]


def judged(case: str, of: str, value: float, first: float, **more: str) -> Line:
    ratio = value / first
    return Line(case, of, value, "us/req", ratio, f"<= {FLAT} x the first", ratio <= FLAT, **more)


def replicas(lab: Lab) -> Iterator[Line]:
    """The sidecar has a core of its own; the replicas, wrk and the origin share another."""
    firsts: list[float] = []
    for count in powers(10, lab.chosen.replicas):
        with Group() as group:
            ports = lab.caches(group, lab.machine.load_core, count, "16MiB")
            behind = [process.handle.pid for process in group.processes]
            front, port = lab.sidecar(group, lab.machine.tested_core, ports)
            warm(lab, port, PAGE_BYTES, PATHS)
            draw(lab, port, PAGE_BYTES, PATHS)
            found = medians(lab, port, PAGE_BYTES, PATHS, [[front.handle.pid], behind])
            firsts = firsts or found
            yield judged("replicas", f"the sidecar of {count:,} replicas", found[0], firsts[0])
            yield Line("replicas", f"the {count:,} replicas together", found[1], "us/req",
                       found[1] / firsts[1])


def plain_look_up(lab: Lab, count: int) -> float:
    """In us."""
    done = subprocess.run([lab.chosen.look_up, str(count)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise BenchError(f"{lab.chosen.look_up} failed: {done.stderr}")
    return float(done.stdout)


def keys(lab: Lab) -> Iterator[Line]:
    first = floor_first = None
    most = powers(FEWEST_KEYS, lab.chosen.keys)
    memory = f"{max(64, most[-1] * OBJECT_BYTES >> 20)}MiB"
    with Group() as group:
        port, = lab.caches(group, lab.machine.tested_core, 1, memory)
        pid = group.processes[0].handle.pid
        filled = 0
        for count in most:
            warm(lab, port, SMALL_BYTES, count, filled)
            filled = count
            asked = fetched(lab.machine.origin)
            value, = medians(lab, port, SMALL_BYTES, count, [[pid]], "uniform")
            missed = fetched(lab.machine.origin) - asked - 1  # our own question
            if missed > count // LOST_DIVISOR:
                raise BenchError(f"{missed:,} requests for {count:,} objects were no hits")
            first = first or value
            yield judged("keys", f"{count:,} objects of {SMALL_BYTES} B", value, first)
            if os.access(lab.chosen.look_up, os.X_OK):
                floor = plain_look_up(lab, count)
                floor_first = floor_first or floor
                yield Line("keys", f"a plain look-up among {count:,}", floor, "us", None,
                           more=f"{floor - floor_first:+.2f} us, the replica {value - first:+.2f}")


def by_two(lab: Lab, pids: list[int], ports: list[int]) -> float:
    """CPU time per request in us of the processes, whom two wrks ask at once: a port each, or both
    the same."""
    rounds = []
    for _ in range(lab.chosen.rounds):
        wait_for_quiet(lab.deadline)
        before = cpu_us(pids)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            told = list(pool.map(lambda port: draw(lab, port, PAGE_BYTES, PATHS, connections=32),
                                 [ports[0], ports[-1]]))
        rounds.append((cpu_us(pids) - before) / sum(each.requests for each in told))
    return statistics.median(rounds)


def threads(lab: Lab) -> Iterator[Line]:
    """Both cores are for all, so that a second thread has where to run: it shares it with a wrk, and
    so do two processes of one thread, which share nothing else."""
    both = {lab.machine.tested_core, lab.machine.load_core}
    firsts: list[float] = []
    for count, processes, of in ((1, 1, "with one thread"), (2, 1, "with two threads"),
                                 (1, 2, "processes, two of one thread each")):
        with Group() as group:
            caches = lab.caches(group, both, processes, threads=count)
            for port in caches:
                warm(lab, port, PAGE_BYTES, PATHS)
            alone = by_two(lab, [each.handle.pid for each in group.processes], caches)
        with Group() as group:
            caches = lab.caches(group, both, 10)
            fronts = [lab.sidecar(group, both, caches, threads=count) for _ in range(processes)]
            for _, port in fronts:
                warm(lab, port, PAGE_BYTES, PATHS)
            sidecar = by_two(lab, [front.handle.pid for front, _ in fronts],
                             [port for _, port in fronts])
        firsts = firsts or [alone, sidecar]
        yield judged("threads", f"replica {of}", alone, firsts[0])
        yield judged("threads", f"sidecar {of}", sidecar, firsts[1])
