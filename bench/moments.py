"""bench/scale's cases that are no rate: a change of topology, a start, idle connections."""

import json
import statistics
import threading
import time
from collections.abc import Iterator

from processes import BenchError, Group, free_ports, listens, pss_kib
from prober import Prober, connect, read_answer
from scaled import COUNTRY, Lab, Line, cpu_us, deployment_at, get, members

CHANGES = 10
CHANGE_EVERY_S = 1.0
STALL_MS = 5.0
READY_MS = 200.0
CONNECTION_BYTES = 4096
IDLE_SHARE = 0.1  # percent of a core
KEYS = 64
SIZE = 100
LOOPBACKS = 50  # addresses that connections come from: one may not have so many


def topology_of(ports: list[int], prefix: str) -> str:
    return json.dumps({"scheme": "ring", "members": [{"name": f"{prefix}-{index}", "address": f"127.0.0.1:{port}"}
                                   for index, port in enumerate(ports)]})


def put(admin: int, topology: str) -> None:
    status, said, _ = get(admin, "/topology", "PUT", topology,
                          {"Content-Type": "application/json"})
    if status != 200:
        raise BenchError(f"PUT /topology: {status} {said.decode()}")


def worst(prober: Prober, changes: list[str], admin: int) -> tuple[float, str]:
    """The worst latency after each of the changes in ms, their median: what others do on the
    machine comes now and then, what a change does comes with each."""
    done = threading.Event()
    asking = threading.Thread(target=prober.run, args=(done,))
    asking.start()
    found = []
    for change in changes:
        prober.worst_s = 0.0
        if change:
            put(admin, change)
        time.sleep(CHANGE_EVERY_S)
        found.append(prober.worst_s * 1e3)
    done.set()
    asking.join()
    if prober.failed:
        raise BenchError(f"{prober.failed} failed answers while the topology changed")
    return statistics.median(found), f"{min(found):.1f} to {max(found):.1f}"


def topology(lab: Lab) -> Iterator[Line]:
    """Two kinds of change: one replica leaves and comes back; all have other names. Both topologies
    are used before, so that nobody has to ask the origin."""
    count = lab.chosen.replicas
    with Group() as group:
        ports = lab.caches(group, lab.machine.load_core, count, "16MiB")
        admin, = free_ports(1)
        _, port = lab.sidecar(group, lab.machine.tested_core, ports, admin=admin)
        whole, fewer = topology_of(ports, "cache"), topology_of(ports[:-1], "cache")
        renamed = topology_of(ports, "other")
        targets = [f"/{SIZE}/{number}" for number in range(KEYS)]
        for each in (fewer, renamed, whole):
            put(admin, each)
            time.sleep(2)
            for target in targets:
                get(port, target)
        prober = Prober(port, targets)
        calm, spread = worst(prober, [""] * CHANGES, admin)
        yield Line("topology", "the worst latency in a second, no change", calm, "ms", more=spread)
        for of, change in (("one of them leaves and returns", fewer),
                           ("all have other names", renamed)):
            found, spread = worst(prober, [change, whole] * (CHANGES // 2), admin)
            yield Line("topology", f"{count:,} replicas, {of}", found, "ms", None,
                       f"<= {STALL_MS} ms added", found - calm <= STALL_MS, spread)


def until_ready(lab: Lab, words: list[str]) -> float:
    """In ms, the median of some starts."""
    times = []
    for _ in range(lab.chosen.rounds):
        with Group() as group:
            port, admin = free_ports(2)
            began = time.monotonic()
            lab.member(group, lab.machine.tested_core, port, *words, admin=admin)
            while not is_ready(admin):
                if time.monotonic() > began + 20:
                    raise BenchError(f"{words[0]} does not get ready")
                time.sleep(0.0005)
            times.append((time.monotonic() - began) * 1e3)
    return statistics.median(times)


def is_ready(admin: int) -> bool:
    return listens(admin) and get(admin, "/readyz")[0] == 200


def ready(lab: Lab) -> Iterator[Line]:
    origin = f"http://127.0.0.1:{lab.machine.origin}"
    with Group() as group:
        ports = lab.caches(group, lab.machine.load_core, 10)
        nowhere = [*ports, *free_ports(lab.chosen.replicas)][:lab.chosen.replicas]
        starts = (("a replica", ["cache", "--name", "cache-0", "--origin", origin]),
                  ("a sidecar of 10 replicas",
                   ["sidecar", "--replicas", members(ports), *COUNTRY]),
                  (f"a sidecar of {len(nowhere):,}, of which 10 are there",
                   ["sidecar", "--replicas", members(nowhere), *COUNTRY]))
        for of, command in starts:
            took = until_ready(lab, command)
            yield Line("ready", of, took, "ms", None, f"<= {READY_MS:.0f} ms", took <= READY_MS)


def size_of_connection(lab: Lab, pid: int, port: int) -> float:
    """In bytes: what the process has more, by connection that has had an answer."""
    sockets = []
    try:
        for number in range(lab.chosen.connections + 200):
            if number == 200:  # what is there but once is there now
                time.sleep(1)
                before = pss_kib(pid)
            socket = connect(port, f"127.0.0.{2 + number % LOOPBACKS}")
            sockets.append(socket)
            socket.sendall(f"GET /{SIZE}/1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            if not read_answer(socket):
                raise BenchError("an answer is not right")
        time.sleep(1)
        return (pss_kib(pid) - before) * 1024 / lab.chosen.connections
    finally:
        for socket in sockets:
            socket.close()


def idle(lab: Lab) -> Iterator[Line]:
    with Group() as group:
        ports = lab.caches(group, lab.machine.load_core, 10)
        front, port = lab.sidecar(group, lab.machine.tested_core, ports)
        time.sleep(2)
        pids = [process.handle.pid for process in group.processes]
        before = cpu_us(pids)
        time.sleep(10)
        share = (cpu_us(pids) - before) / 10e6 * 100
        yield Line("idle", "a core, by ten replicas and a sidecar", share, "%", None,
                   f"<= {IDLE_SHARE} %", share <= IDLE_SHARE)
        at = (("a replica", group.processes[0].handle.pid, ports[0]),
              ("a sidecar", front.handle.pid, deployment_at(port).port))
        for of, pid, where in at:
            bytes_each = size_of_connection(lab, pid, where)
            yield Line("idle", f"a connection at {of}, of {lab.chosen.connections:,}", bytes_each,
                       "B", None, f"< {CONNECTION_BYTES} B", bytes_each < CONNECTION_BYTES)
