"""Tiers of ten caches that become eleven: each starts, tells its port, and grows while it is asked."""

import abc
import http.client
import json
import signal
import socket

import peers
from machine import Machine
from processes import BenchError, Group, free_ports

REPLICAS = 10
CLIENTS = 256


class GrowingTier(abc.ABC):
    """Eleven caches run from the beginning; the front knows of ten, until grow()."""

    title = ""

    def __init__(self, machine: Machine, name: str):
        self.machine = machine
        self.name = name
        self.group = Group()
        self.port, *self.ports = free_ports(2 + REPLICAS)

    def __enter__(self) -> "GrowingTier":
        try:
            self.start()
        except BaseException:
            self.group.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.group.stop()

    def start_nginx_caches(self) -> None:
        for index, port in enumerate(self.ports):
            peers.start_nginx_cache(self.machine, self.group, f"{self.name}-{index}", port, CLIENTS)

    @abc.abstractmethod
    def start(self) -> None:
        """All of it, with ten in use."""

    @abc.abstractmethod
    def grow(self) -> None:
        """The eleventh is in use when this returns, or in a moment."""


class Nginx(GrowingTier):
    rule = "hash $request_uri consistent;"
    title = "nginx, consistent hash"

    def front(self, replicas: int) -> str:
        servers = "\n".join(f"    server 127.0.0.1:{port};" for port in self.ports[:replicas])
        text = peers.FRONT.format(servers=servers, port=self.port, proxied=peers.PROXIED)
        return text.replace("hash $request_uri consistent;", self.rule)

    def start(self) -> None:
        self.start_nginx_caches()
        peers.start_nginx(self.machine, self.group, "front", f"{self.name}-front", self.port,
                          self.front(REPLICAS), clients=CLIENTS)

    def grow(self) -> None:
        config = self.machine.directory / f"{self.name}-front" / "nginx.conf"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace(self.front(REPLICAS), self.front(REPLICAS + 1)),
                          encoding="utf-8")
        self.group.processes[-1].handle.send_signal(signal.SIGHUP)


class NginxModulo(Nginx):
    rule = "hash $request_uri;"
    title = "nginx, hash modulo"


class HAProxy(GrowingTier):
    title = "HAProxy, consistent hash"

    def start(self) -> None:
        self.start_nginx_caches()
        lines = [f"  server cache-{index} 127.0.0.1:{port}" for index, port in enumerate(self.ports)]
        lines[-1] += " disabled"
        self.socket = self.machine.directory / f"{self.name}.sock"
        text = peers.HAPROXY.format(port=self.port, servers="\n".join(lines), clients=2 * CLIENTS)
        text = text.replace("  nbthread 1\n", f"  nbthread 1\n  stats socket {self.socket} level admin\n")
        config = self.machine.directory / f"{self.name}.cfg"
        config.write_text(text, encoding="utf-8")
        self.group.start("front", [self.machine.programs["haproxy"], "-db", "-q", "-f", str(config)],
                         self.machine.tested_core, config.with_suffix(".log"), [self.port])

    def grow(self) -> None:
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.socket))
            control.sendall(f"enable server replicas/cache-{REPLICAS}\n".encode())
            said = control.recv(4096).strip()
        if said:
            raise BenchError(f"haproxy: {said.decode(errors='replace')}")


class Ringside(GrowingTier):
    title = "Ringside"

    def members(self, replicas: int) -> list[dict[str, str]]:
        return [{"name": f"cache-{index}", "address": f"127.0.0.1:{port}"}
                for index, port in enumerate(self.ports[:replicas])]

    def start_one(self, name: str, port: int, words: list[str]) -> None:
        admin, = free_ports(1)
        self.admins.append(admin)
        command = [self.machine.programs["ringside"], *words, "--listen", f"127.0.0.1:{port}",
                   "--admin", f"127.0.0.1:{admin}", "--threads", "1", "--log-level", "warning",
                   "--drain-deadline", "1s", "--insecure-peers"]
        self.group.start("ringside", command, self.machine.tested_core,
                         self.machine.directory / f"{name}.log", [port, admin])

    def start(self) -> None:
        self.admins: list[int] = []
        origin = f"http://127.0.0.1:{self.machine.origin}"
        for index, port in enumerate(self.ports):
            self.start_one(f"{self.name}-{index}", port,
                           ["cache", "--name", f"cache-{index}", "--origin", origin])
        listed = ",".join(f"{one['name']}={one['address']}" for one in self.members(REPLICAS))
        self.start_one(f"{self.name}-front", self.port,
                       ["sidecar", "--replicas", listed, "--geo-optional"])
        self.publish(self.admins, REPLICAS)

    def publish(self, admins: list[int], replicas: int) -> None:
        body = json.dumps({"scheme": "ring", "members": self.members(replicas)})
        for admin in admins:
            connection = http.client.HTTPConnection("127.0.0.1", admin, timeout=10)
            connection.request("PUT", "/topology", body)
            answer = connection.getresponse()
            if answer.status != 200:
                raise BenchError(f"PUT /topology: {answer.status}: {answer.read().decode()}")
            connection.close()

    def grow(self) -> None:
        self.publish(self.admins, REPLICAS + 1)


TIERS = {"ringside": Ringside, "nginx": Nginx, "haproxy": HAProxy, "modulo": NginxModulo}
