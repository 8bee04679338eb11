"""The test case: whatever it starts ends with the test."""

import json
import pathlib
import ssl
import tempfile
import unittest

from .link import Link
from .memory import is_sanitized
from .mmdb import write_mmdb
from .origin import Origin
from .program import Process, ringside
from .waiting import wait_until
from .wire import Stage


class Tier(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def countries(self) -> pathlib.Path:
        """A small country database, the same for all of a test's processes."""
        path = self.folder / "country.mmdb"
        return path if path.exists() else write_mmdb(path)

    def origin(self, tls: ssl.SSLContext | None = None) -> Origin:
        origin = Origin(tls)
        self.addCleanup(origin.stop)
        return origin

    def link(self, target: str = "") -> Link:
        link = Link(target)
        self.addCleanup(link.stop)
        return link

    def stage(self) -> Stage:
        stage = Stage()
        self.addCleanup(stage.stop)
        return stage

    def start(self, *arguments, as_it_comes=False) -> Process:
        process = Process(*arguments, as_it_comes=as_it_comes)
        self.addCleanup(process.stop)
        return process

    def cache(self, name: str, origin: Origin, *options) -> Process:
        process = self.start(
            "cache", "--name", name, "--origin", origin.url,
            *unless_given(options, "--threads", 1, "--memory", "64MiB"),
        )  # fmt: skip
        process.name = name
        return process

    def caches(self, count: int, origin: Origin, *options) -> list[Process]:
        return [self.cache(f"cache-{number}", origin, *options) for number in range(count)]

    def sidecar(self, caches: list[Process], *options) -> Process:
        """A front that believes what this machine says of clients."""
        return self.start(
            "sidecar", "--replicas", members(caches), "--geo", self.countries(),
            *unless_given(options, "--trust", "127.0.0.0/8", "--threads", 2),
        )  # fmt: skip

    def up(self, replicas: int, origin: Origin, *options) -> Process:
        return self.start(
            "up", "--replicas", replicas, "--origin", origin.url, "--geo", self.countries(),
            *unless_given(options, "--threads", 2, "--memory", "64MiB"),
        )  # fmt: skip

    def assert_all_hits(self, front: Process, ask_all) -> None:
        """Of the answers that ask_all(front) gives."""

        def missed() -> list[str]:
            return [answer.cache_status for answer in ask_all(front) if not answer.is_hit]

        first = missed()
        if first and is_sanitized() and front.has_passed_over():
            # An owner was taken for dead for a moment, and the next one asked it: it is back soon.
            first = [status for status in first if "detail=peer-fill" not in status]
            wait_until(lambda: not missed(), "its owner to answer for everything")
        self.assertEqual(first, [])

    def shard(self, asked: list[tuple[str, str]], *options) -> list[dict]:
        """What `ringside shard` tells of each (client, URL)."""
        lines = "".join(f"{client} {url}\n" for client, url in asked)
        done = ringside(
            "shard", "--json", "--geo", self.countries(), *options, "-", stdin=lines
        )  # fmt: skip
        return json.loads(done.stdout)


def members(caches: list[Process]) -> str:
    return ",".join(f"{cache.name}={cache.address}" for cache in caches)


def unless_given(options: tuple, *defaults) -> list:
    """The options, and of the defaults (names and values) those whose names are not in them."""
    pairs = zip(defaults[::2], defaults[1::2])
    return [*options, *(part for pair in pairs if pair[0] not in options for part in pair)]
