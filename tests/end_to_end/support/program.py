"""Processes of the real program."""

import ctypes
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import threading

from .client import Client, Response
from .waiting import WAIT_S, wait_until

PROGRAM = os.environ["RINGSIDE"]
ROOT = pathlib.Path(os.environ["RINGSIDE_ROOT"])
BUILD = pathlib.Path(os.environ["RINGSIDE_BUILD"])
# Members speak HTTP/1.1 alone: so everything is tested over either.
WITHOUT_LINK = os.environ.get("RINGSIDE_TEST_WITHOUT_LINK") == "yes"

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def die_with_parent() -> None:
    """So that nothing outlives a test that was killed."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def ringside(*arguments, expect: int = 0, stdin: str | None = None) -> subprocess.CompletedProcess:
    """Runs a command of the program to its end."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=WAIT_S * 2,
        check=False,
    )
    if done.returncode != expect:
        raise AssertionError(
            f"{arguments} ended with {done.returncode} instead of {expect}\n"
            f"{done.stdout}{done.stderr}"
        )
    return done


held_places: dict[str, socket.socket] = {}  # by the address of a process that was killed


def leave_place(address: str) -> None:
    if address in held_places:
        held_places.pop(address).close()


def trusted(arguments: list[str]) -> bool:
    """Whether there is a key, or none is needed. A test of other things goes without one."""
    own = {"--peer-key-file", "--insecure-peers"} & set(arguments)
    return arguments[0] == "up" or bool(own)


class Process:
    """`ringside up`, `sidecar` or `cache`, on free ports; knows its addresses once it is ready.

    `within`: a command that becomes, or runs, the one that follows it. `as_it_comes`: nobody is
    believed without a key."""

    def __init__(self, *arguments, stderr=subprocess.PIPE, within=(), as_it_comes=False):
        arguments = [str(argument) for argument in arguments]
        if not as_it_comes and not trusted(arguments):
            arguments.append("--insecure-peers")
        if WITHOUT_LINK and "--without-link" not in arguments:
            arguments.append("--without-link")
        for option in ("--listen", "--admin"):
            if option not in arguments:
                arguments += [option, "127.0.0.1:0"]
        self.address = arguments[arguments.index("--listen") + 1]
        leave_place(self.address)
        self.child = subprocess.Popen(
            [*within, PROGRAM, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            preexec_fn=die_with_parent,
        )
        self._lines = {"out": [], "err": []}
        self._readers = [
            threading.Thread(target=self._read, args=(stream, name), daemon=True)
            for stream, name in ((self.child.stdout, "out"), (self.child.stderr, "err"))
            if stream
        ]
        for reader in self._readers:
            reader.start()
        try:
            found = wait_until(self._addresses, f"{arguments} to say where it listens")
            self.address, self.admin = found[1], found[2]
        except BaseException:
            self.stop()
            raise

    def _read(self, stream, name: str) -> None:
        for line in stream:
            self._lines[name].append(line)

    def _addresses(self):
        ended = self.child.poll() is not None
        if ended:
            for reader in self._readers:
                reader.join(WAIT_S)
        found = re.search(r"listens on (\S+), admin on (\S+)", self.out)
        if ended and not found:
            raise AssertionError(f"ended with {self.child.returncode}: {self.out}{self.err}")
        return found

    @property
    def out(self) -> str:
        return "".join(self._lines["out"])

    @property
    def err(self) -> str:
        return "".join(self._lines["err"])

    def stop(self) -> None:
        """At once, whatever state it is in."""
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(WAIT_S)
        for reader in self._readers:
            reader.join(WAIT_S)
        self.child.stdout.close()
        if self.child.stderr:
            self.child.stderr.close()
        leave_place(self.address)

    def kill(self) -> None:
        """Without warning, and waits for its end. Its port stays taken, though nobody listens: what
        else is started meanwhile, by other tests too, could get it and answer in its place. It is
        free again for a process that is told to listen there.
        """
        host, port = self.address.rsplit(":", 1)
        place = socket.socket()
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            place.setsockopt(socket.SOL_SOCKET, option, 1)
        place.bind((host, int(port)))
        held_places[self.address] = place
        self.signal(signal.SIGKILL)
        self.wait()

    def signal(self, number: int) -> None:
        self.child.send_signal(number)

    def freeze(self) -> None:
        """Stops it until SIGCONT; the kernel still accepts connections for it."""
        self.signal(signal.SIGSTOP)
        stat = pathlib.Path(f"/proc/{self.child.pid}/stat")
        wait_until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T", "it to stop")

    def wait(self) -> int:
        """The exit code."""
        code = self.child.wait(WAIT_S)
        for reader in self._readers:
            reader.join(WAIT_S)
        return code

    # --- As a client of it, on connections of their own.

    def ask(self, method: str, target: str, body=None, fields=None) -> Response:
        with Client(self.address) as client:
            return client.ask(method, target, body, fields)

    def get(self, target: str, client: str | None = None, **fields: str) -> Response:
        with Client(self.address) as one:
            return one.get(target, client, **fields)

    def refuses_connections(self) -> bool:
        host, port = self.address.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=WAIT_S):
                return False
        except ConnectionResetError:  # the listener was closing just then
            return False
        except ConnectionRefusedError:
            return True

    # --- As its administrator.

    def administer(self, method: str, target: str, body=None) -> Response:
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        with Client(self.admin) as client:
            return client.ask(method, target, body.encode() if body is not None else None)

    def json(self, target: str) -> dict:
        return json.loads(self.administer("GET", target).body)

    def readyz(self) -> Response:
        return self.administer("GET", "/readyz")

    def metric(self, family: str, **labels: str) -> float:
        """The sum of a family's samples that have these labels."""
        total = 0.0
        text = self.administer("GET", "/metrics").text
        for sample in re.finditer(rf"^{family}(?:\{{(.*)\}})? (\S+)$", text, re.MULTILINE):
            found = dict(re.findall(r'(\w+)="([^"]*)"', sample[1] or ""))
            if labels.items() <= found.items():
                total += float(sample[2])
        return total

    def has_passed_over(self) -> bool:
        """As a sidecar: whether it has taken a replica out of service. A busy machine can leave one
        without a core for so long; the next owners answer in its place then."""
        return self.metric("ringside_replica_ejections_total") > 0

    def connections(self) -> float:
        """Of clients; links of members stay while they are used."""
        links = self.metric("ringside_links", role="cache")
        return self.metric("ringside_connections") - links


def raise_open_files() -> None:
    """Thousands of sockets are more than many shells allow."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
