"""A tier of one process a replica, whose members change while it is asked."""

import http.client
import json
import time

from machine import Machine
from processes import BenchError, Group, Process, free_ports

PATIENCE_S = 120
SETTLED_S = 1  # what is to move is known a moment after the change


class Tier:
    """Caches that come and go, and a sidecar in front, which all follow PUT /topology."""

    def __init__(self, machine: Machine, group: Group, shard_key: str, memory: str = "4GiB"):
        self.machine, self.group, self.memory = machine, group, memory
        self.caches: dict[str, tuple[Process, int, int]] = {}  # by name, with port and admin port
        self.leavers: list[tuple[Process, int, int]] = []
        self.weights: dict[str, int] = {}
        self.version = 1
        self.port, self.admin = free_ports(2)
        self.shard_key = shard_key

    def run(self, name: str, port: int, admin: int, words: list[str]) -> Process:
        command = [self.machine.programs["ringside"], *words, "--listen", f"127.0.0.1:{port}",
                   "--admin", f"127.0.0.1:{admin}", "--threads", "1", "--log-level", "warning",
                   "--insecure-peers"]
        return self.group.start("ringside", command, self.machine.tested_core,
                                self.machine.directory / f"{name}-{port}.log", [port, admin])

    def add(self, name: str) -> None:
        port, admin = free_ports(2)
        words = ["cache", "--name", name, "--origin", f"http://127.0.0.1:{self.machine.origin}",
                 "--memory", self.memory]
        self.caches[name] = (self.run(name, port, admin, words), port, admin)

    def start_front(self) -> None:
        self.run("front", self.port, self.admin, [
            "sidecar", "--replicas", self.listed(), "--geo-optional", "--shard-key", self.shard_key])

    def listed(self) -> str:
        return ",".join(f"{name}=127.0.0.1:{port}" for name, (_, port, _) in self.caches.items())

    def publish(self) -> None:
        members = [{"name": name, "address": f"127.0.0.1:{port}", "weight": self.weights.get(name, 1)}
                   for name, (_, port, _) in self.caches.items()]
        body = json.dumps({"scheme": "ring", "members": members})
        # Who knows of no members takes part in nothing: new caches are told first.
        told = [admin for _, _, admin in (*reversed(self.caches.values()), *self.leavers)]
        leaving = [admin for _, _, admin in self.leavers]
        for admin in [*told, self.admin]:
            try:
                status, said = ask(admin, "PUT", "/topology", body)
            except ConnectionError:
                if admin not in leaving:
                    raise
                continue  # it was told to end, has given all, and has ended
            if status != 200:
                raise BenchError(f"PUT /topology: {status}: {said}")

    def remove(self, name: str) -> None:
        self.leavers.append(self.caches.pop(name))

    def restart(self, name: str) -> None:
        """As Kubernetes does it: SIGTERM, and when it has ended a new one, at another address."""
        process, _, _ = self.caches[name]
        process.stop()
        self.replace(name)

    def kill(self, name: str) -> None:
        """It has no time to give anything."""
        self.caches[name][0].handle.kill()
        self.replace(name)

    def replace(self, name: str) -> None:
        process, _, _ = self.caches[name]
        wait_for(f"{name} to end", lambda: process.handle.poll() is not None)
        self.add(name)
        self.publish()
        wait_for(f"{name} to be ready", lambda: ask(self.caches[name][2], "GET", "/readyz")[0] == 200)

    def wait_until_settled(self) -> float:
        """Each holds its own buckets and nothing that another one is to have."""
        took_s = wait_for("the buckets to move", self.is_settled, SETTLED_S)
        for process, _, _ in self.leavers:
            process.stop()
        for process, _, _ in self.leavers:
            process.wait()
        self.leavers.clear()
        return took_s

    def is_settled(self) -> bool:
        selves = [json.loads(ask(admin, "GET", "/topology")[1])["self"]
                  for _, _, admin in (*self.caches.values(), *self.leavers)]
        return not any(one["buckets_away"] + one["buckets_to_give"] for one in selves)


def ask(port: int, method: str, path: str, body: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    finally:
        connection.close()


def wait_for(what: str, is_so, settled_s: float = 0) -> float:
    """Returns how many seconds it took until it was so, and was for so long."""
    begun = since = time.monotonic()
    while (is_true := is_so()) is False or time.monotonic() < since + settled_s:
        since = since if is_true else time.monotonic()
        if time.monotonic() > begun + PATIENCE_S:
            raise BenchError(f"waited for {what} in vain for {PATIENCE_S} s")
        time.sleep(0.05)
    return since - begun


def stored_at(admin: int) -> int:
    for line in ask(admin, "GET", "/metrics")[1].splitlines():
        if line.startswith("ringside_store_entries"):
            return int(float(line.split()[-1]))
    raise BenchError("/metrics has no ringside_store_entries")
