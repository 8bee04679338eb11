"""The test case of loads that are meant to exhaust a tier: its processes have the arguments and the
bounds of the shipped manifests, and honest clients are looked at meanwhile."""

import collections
import os
import re
import resource
import time

import tunnel_test
from beside import Beside
from container import Container, Size, is_told
from support import ROOT, Process
from support.memory import MIB, is_sanitized
from support.peers import Peers
from support.program import raise_open_files
from support.wire import Wire, request

GREEDY, HONEST = "127.0.0.1", "127.0.0.2"
TRUSTED = "127.0.0.9/32"  # neither of them
COUNTRY = "ZZ"  # of loopback
LEAST = 100  # honest requests
WATCHED_S = float(os.environ.get("ABUSE_WATCHED_S", "4"))
FILES = 8192  # fewer than most nodes allow
MANIFESTS = {
    "cache": ROOT / "k8s/base/stateful-set.yaml",
    "sidecar": ROOT / "k8s/overlays/standalone/sidecar.yaml",
}
UPLOAD_BYTES = 1_000_000
SWITCHED = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: %s\r\n\r\n"
)
UNITS = {"Mi": MIB, "Gi": 1024 * MIB}


def shipped_size(command: str) -> Size:
    """Of the container, as its manifest limits it."""
    limits = re.search(
        r'^ +limits:\n +cpu: "(\d+)"\n +memory: (\d+)(Mi|Gi)\n',
        MANIFESTS[command].read_text(),
        re.MULTILINE,
    )
    files = min(FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    return Size(int(limits[2]) * UNITS[limits[3]], int(limits[1]), files)


def shipped_options(command: str) -> list[str]:
    """What of the manifest's arguments bounds the process."""
    text = MANIFESTS[command].read_text()
    options = dict(re.findall(r"^ +- (--(?:memory|threads))=(\S+)$", text, re.MULTILINE))
    if "--memory" in options and not is_told():
        percent = int(options["--memory"].removesuffix("%"))
        options["--memory"] = str(shipped_size(command).memory_bytes * percent // 100)
    return [word for option in options.items() for word in option]


class Abuse(Peers):
    def setUp(self):
        super().setUp()
        raise_open_files()
        self.contained: list[tuple[str, Process, Container]] = []

    def start(self, command: str, *arguments, **how) -> Process:
        container = Container(shipped_size(command))
        self.addCleanup(container.remove)
        process = Process(command, *arguments, within=container.command, **how)
        self.addCleanup(process.stop)
        self.contained.append((command, process, container))
        return process

    def tier(self, *options, of_replicas: tuple = ()) -> Process:
        """A sidecar before two replicas; `options` are the sidecar's."""
        bounds = shipped_options("cache")
        self.replicas = [
            self.replica(f"cache-{number}", None, *bounds, *of_replicas) for number in range(2)
        ]
        trusted = () if "--trust" in options else ("--trust", TRUSTED)
        return self.front_of(
            self.replicas, None, *shipped_options("sidecar"), *trusted, *options
        )

    def of_replicas(self, family: str) -> float:
        return sum(replica.metric(family) for replica in self.replicas)

    def wire(self, address: str, *sent: bytes) -> Wire:
        """A connection of the greedy one's."""
        wire = Wire(address, source=GREEDY)
        self.addCleanup(wire.close)
        for raw in sent:
            wire.send(raw)
        return wire

    def uploads(self, front: Process, count: int) -> list[Wire]:
        head = request("POST", "/upload", f"Content-Length: {UPLOAD_BYTES}")
        return [self.wire(front.address, head) for _ in range(count)]

    def tunnels(self, front: Process, count: int) -> list[Wire]:
        """Each is open, to the origin."""

        def switch(turn) -> None:
            key = tunnel_test.accept_key(turn.request.field("Sec-WebSocket-Key"))
            turn.send(SWITCHED % key.encode())
            turn.silence()

        self.source.on["/ws"] = switch
        tunnels = [self.wire(front.address, tunnel_test.asking("/ws")) for _ in range(count)]
        self.assertEqual({wire.head().status for wire in tunnels}, {101})
        return tunnels

    def beside(self, program: str, **specification) -> Beside:
        one = Beside(program, **specification)
        self.addCleanup(one.stop)
        return one

    def honest(self, front: Process) -> Beside:
        # Under a sanitizer all may wait for a replica for as long as they are looked at.
        enough = LEAST + 1 if is_sanitized() else 0
        return self.beside(
            "honest", address=front.address, source=HONEST, country=COUNTRY, enough=enough
        )

    def storm(self, address: str, messages: list[bytes], connections: int) -> Beside:
        said = [message.decode("latin-1") for message in messages]
        return self.beside(
            "storm", address=address, source=GREEDY, messages=said, connections=connections
        )

    @staticmethod
    def end(storm: Beside) -> list[collections.Counter]:
        """How often each of its messages was answered with each status."""
        return [
            collections.Counter({int(status): times for status, times in one.items()})
            for one in storm.end()["statuses"]
        ]

    @staticmethod
    def watch(step=lambda: None, every_s: float = WATCHED_S) -> None:
        """For as long as it is looked at; nothing is waited for."""
        until = time.monotonic() + WATCHED_S
        while (left := until - time.monotonic()) > 0:
            step()
            time.sleep(min(every_s, left))

    def judge(self, honest: Beside, load: str) -> None:
        """No honest request was wrong or failed, and nobody took more memory than there is."""
        told = honest.end()
        held = [
            f"{command} {container.peak_bytes(process) / MIB:.0f} of"
            f" {container.size.memory_bytes // MIB} MiB"
            for command, process, container in self.contained
            if process.child.poll() is None
        ]
        print(
            f"{load}: {told['count']} honest requests ({told['hits']} hits),",
            f"{told['wrong']} wrong, {told['failed']} failed;",
            f"p50 {told['p50_ms']:.1f} ms, p99 {told['p99_ms']:.1f} ms,",
            f"worst {told['worst_ms']:.0f} ms, of hits {told['worst_hit_ms']:.0f} ms;",
            f"in {self.contained[0][2].how}: {', '.join(held)}",
            flush=True,
        )
        for command, process, container in self.contained:
            is_over = container.is_exceeded(process)
            self.assertFalse(is_over, f"{command} took more than it may: {process.err}")
        self.assertEqual((told["wrong"], told["failed"]), (0, 0), told["shown"])
        self.assertGreater(told["count"], LEAST)
