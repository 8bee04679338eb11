"""What a hit costs, counted by callgrind: instructions in user code, system calls, allocations.

Counts and not times: they are the same on every machine with the same compiler and libraries, but
for a few per cent. One process each, one connection, the difference between two numbers of hits.
"""

import collections
import pathlib
import re
import signal
import socket
import typing
import unittest

from support.memory import is_sanitized
from support.program import Process
from support.tier import Tier

FEW, MANY = 200, 1200
REQUEST = (
    b"GET /page?x=1 HTTP/1.1\r\nHost: a.example\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"
    b"Accept: */*\r\nAccept-Encoding: gzip\r\n\r\n"
)

BAND = 0.05
CALLS_BAND = 0.75  # an answer that is there at once is read without a wait
ALLOCATIONS_BAND = 0.2


class Cost(typing.NamedTuple):
    """Of one hit, give or take BAND, CALLS_BAND and ALLOCATIONS_BAND."""

    instructions: int
    system_calls: float
    allocations: float


# Whoever makes a hit cheaper writes the new figures here; whoever makes it dearer says in the commit
# for what.
ASKED_DIRECTLY = Cost(11_600, 4, 0)
# Over a link, one request at a time: what batches save is not in these. A core looks for more to do
# before it sends, as long as it finds something now and then: up to one call more.
SIDECAR = Cost(27_350, 9.4, 0)
BEHIND_SIDECAR = Cost(18_700, 4.1, 0)

CALLS = {"replica asked directly": 0, "sidecar": 0, "replica behind it": 0}
ALLOCATIONS = {"replica asked directly": 0, "sidecar": 0, "replica behind it": 0}

CALLS = {"recv", "recvmsg", "read", "send", "sendmsg", "write", "writev", "epoll_wait", "epoll_ctl",
         "timerfd_settime", "ioctl", "getpeername", "setsockopt", "mmap", "madvise"}  # fmt: skip
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}


WHAT_TO_LOOK_AT = "docs/performance.md tells how to see where it is spent"


def counts_of(path: pathlib.Path) -> collections.Counter:
    """What callgrind wrote: "instructions", and the calls of each function by its name."""
    counts, names, called = collections.Counter(), {}, None
    with path.open() as file:
        for line in file:
            if found := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
                if found[3]:
                    names[found[2]] = re.sub(r"@.*|'\d+$", "", found[3]).lstrip("_")
                called = found[2] if found[1] else called
            elif line.startswith("calls="):
                counts[names[called]] += int(line[6:].split()[0])
            elif line.startswith("totals:"):
                counts["instructions"] = int(line.split()[1])
    return counts


def ask(address: str, times: int) -> None:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        answers = connection.makefile("rb")
        for _ in range(times):
            connection.sendall(REQUEST)
            status = answers.readline()
            if b" 200 " not in status:
                raise AssertionError(status)
            fields = iter(answers.readline, b"\r\n")
            lengths = [line for line in fields if line.lower().startswith(b"content-length:")]
            answers.read(int(lengths[0].split(b":")[1]))


@unittest.skipIf(is_sanitized(), "sanitizers have costs of their own")
class Hit(Tier):
    def counted(self, *arguments) -> Process:
        out = self.folder / f"counts-{arguments[0]}"
        process = Process(
            *arguments, "--threads", 1, "--insecure-peers",
            within=("valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"),
        )  # fmt: skip
        self.addCleanup(process.stop)
        process.counts = out
        return process

    def ended(self, process: Process) -> collections.Counter:
        process.signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0, process.err)
        return counts_of(process.counts)

    def run_of(self, times: int, through_sidecar: bool) -> list[collections.Counter]:
        """Of the process that was asked, and of those behind it."""
        origin = self.origin()
        cache = self.counted("cache", "--name", "cache-0", "--origin", origin.url)
        if not through_sidecar:
            ask(cache.address, times)
            return [self.ended(cache)]
        front = self.counted("sidecar", "--replicas", f"cache-0={cache.address}",
                             "--geo", self.countries())  # fmt: skip
        ask(front.address, times)
        return [self.ended(front), self.ended(cache)]

    def costs(self, through_sidecar: bool) -> list[Cost]:
        few = self.run_of(FEW, through_sidecar)
        many = self.run_of(MANY, through_sidecar)
        costs = []
        for less, more in zip(few, many, strict=True):
            more.subtract(less)
            each = {name: count / (MANY - FEW) for name, count in more.items()}
            costs.append(
                Cost(
                    round(each["instructions"]),
                    sum(each.get(name, 0) for name in CALLS),
                    sum(each.get(name, 0) for name in ALLOCATORS),
                )
            )
        return costs

    def expect(self, name: str, found: Cost, expected: Cost) -> None:
        told = f"{name}: a hit costs {found}, and {expected} is expected. {WHAT_TO_LOOK_AT}"
        with self.subTest(name):
            band = expected.instructions * BAND
            self.assertAlmostEqual(found.instructions, expected.instructions, delta=band, msg=told)
            calls, allocations = expected.system_calls, expected.allocations
            self.assertAlmostEqual(found.system_calls, calls, delta=CALLS_BAND, msg=told)
            self.assertAlmostEqual(found.allocations, allocations, delta=ALLOCATIONS_BAND, msg=told)

    def steady_costs(self, through_sidecar: bool) -> list[Cost]:
        """On a machine that hardly lets the programs run, what time brings, such as probes, comes
        between the hits and adds to them: the least of up to three runs is what counts."""
        found = self.costs(through_sidecar)
        for _ in range(2):
            if not any(cost.allocations > ALLOCATIONS_BAND for cost in found):
                break
            again = self.costs(through_sidecar)
            found = [
                Cost(*map(min, one, other))
                for one, other in zip(found, again, strict=True)
            ]
        return found

    def test_a_replica_asked_directly(self):
        self.expect("replica asked directly", *self.steady_costs(False), ASKED_DIRECTLY)

    def test_through_a_sidecar(self):
        sidecar, replica = self.steady_costs(True)
        self.expect("sidecar", sidecar, SIDECAR)
        self.expect("replica behind it", replica, BEHIND_SIDECAR)
