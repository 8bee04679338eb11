"""Ten replicas become eleven while clients ask, and what these clients count of it themselves."""

import collections
import dataclasses
import random
import re

from ringside import Client, Tier, each_in_a_thread, wait_until

CLIENTS = {"81.2.69.160": "GB", "53.1.2.3": "DE", "2a02:d280::7": "CZ", "10.0.0.1": "ZZ"}
PATHS = 120
THREADS = 6
LARGE_BYTES = 100_000
MEMORY = "1MiB"  # of a replica, so that LARGE answers push others out


@dataclasses.dataclass
class Seen:
    """An answer, as its client sees it."""

    country: str
    replica: str
    kind: str  # hit, miss or uncounted
    body_bytes: int


def kind_of(answer) -> str:
    """RFC 9211: what the cache nearest to the origin says it did."""
    if answer.field("Proxy-Status"):
        return "uncounted"  # an answer of our own, because nobody else could
    said = re.split("; *", answer.cache_status.split(",")[0])[1:]
    if {"fwd=method", "fwd=bypass"} & set(said):
        return "uncounted"
    confirmed = {"fwd=stale", "fwd-status=304"} <= set(said)
    without_origin = {"hit", "collapsed", "detail=peer-fill"} & set(said)
    return "hit" if without_origin or confirmed else "miss"


class Counts:
    """Of a part of the traffic."""

    def __init__(self, seen: list[Seen], fetches: int):
        self.seen, self.fetches = seen, fetches

    @property
    def requests(self) -> int:
        return len(self.seen)

    def by(self, name: str) -> dict[str, int]:
        return dict(collections.Counter(getattr(one, name) for one in self.seen))

    def hit_rate(self, weight=lambda one: 1, **only: str) -> float:
        counted = [
            one
            for one in self.seen
            if one.kind != "uncounted"
            and all(getattr(one, name) == value for name, value in only.items())
        ]
        hits = sum(weight(one) for one in counted if one.kind == "hit")
        return hits / sum(weight(one) for one in counted)

    def hit_rates_by(self, name: str) -> dict[str, float]:
        values = {getattr(one, name) for one in self.seen if one.kind != "uncounted"}
        return {value: self.hit_rate(**{name: value}) for value in values}

    def hit_rate_of_bytes(self) -> float:
        return self.hit_rate(lambda one: one.body_bytes)


def add(one: Counts, other: Counts) -> Counts:
    return Counts(one.seen + other.seen, one.fetches + other.fetches)


class Traffic:
    """Requests to a front, some of every kind, and a count of what came of them."""

    def __init__(self, front, origin):
        self.front, self.origin = front, origin
        self._chance = random.Random(11)
        self._fetches = 0
        self.asked = 0
        origin.on["/private"] = lambda turn: turn.reply(cache_control="no-store")
        origin.on["/broken"] = _broken
        origin.on["/stale"] = _validated
        origin.on["/posted"] = lambda turn: turn.reply(cache_control="no-store")
        origin.on["/absent"] = lambda turn: turn.reply(404)
        for number in range(150):
            origin.on[f"/large/{number}"] = _large

    def send(self, pages: int, large: int = 0) -> Counts:
        chance = self._chance
        asked = [("GET", f"/item/{int(PATHS * chance.random() ** 2)}") for _ in range(pages)]
        asked += [("GET", f"/large/{number}") for number in range(large)]
        asked += [("GET", path) for path in ("/private", "/stale", "/absent") for _ in range(6)]
        asked += [("GET", "/broken")] * 3 + [("POST", "/posted")] * 5
        chance.shuffle(asked)
        told = [(*one, chance.choice(list(CLIENTS))) for one in asked]

        def work(thread: int) -> list[Seen]:
            with Client(self.front.address) as client:
                return [self._ask(client, *told[i]) for i in range(thread, len(told), THREADS)]

        seen = sum(each_in_a_thread(work, range(THREADS), THREADS), [])
        self.asked += len(seen)
        wait_until(self._are_counted, f"{self.asked} requests to be counted")
        before, self._fetches = self._fetches, self.origin.count()
        return Counts(seen, self._fetches - before)

    def _ask(self, client: Client, method: str, target: str, address: str) -> Seen:
        body = b"x" if method == "POST" else None
        fields = {"X-Forwarded-For": address, "Host": "www.example.com"}
        answer = client.ask(method, target, body, fields)
        return Seen(CLIENTS[address], answer.replica, kind_of(answer), len(answer.body))

    def _are_counted(self) -> bool:
        return self.front.metric("ringside_requests_total", role="sidecar") == self.asked


def _validated(turn) -> None:
    confirmed = turn.request.field("If-None-Match") == '"v1"'
    turn.reply(
        304 if confirmed else 200, b"" if confirmed else b"the same", cache_control="max-age=0",
        ETag='"v1"',
    )  # fmt: skip


def _broken(turn) -> None:
    """With a byte, so that it is not asked again on another connection, which is counted once."""
    turn.send(b"H")
    turn.close()


def _large(turn) -> None:
    turn.reply(body=b"x" * LARGE_BYTES)


class Story:
    """A tier of separate processes that know one another, ten replicas at first."""

    def __init__(self, scene: Tier):
        self.scene = scene
        self.origin = scene.origin()
        self.caches = scene.caches(10, self.origin, "--memory", MEMORY)
        self.front = scene.sidecar(self.caches, "--threads", 1)
        self.traffic = Traffic(self.front, self.origin)
        self._tell(2)  # each began with its own version 1

    def _tell(self, version: int) -> None:
        """As a configuration would: the sidecar and the replicas use the same topology."""
        members = [{"name": cache.name, "address": cache.address} for cache in self.caches]
        topology = {"version": version, "scheme": "ring", "members": members}
        for process in (self.front, *self.caches):
            answer = process.administer("PUT", "/topology", topology)
            assert answer.status == 200, answer.text

    def start_another(self) -> None:
        name = f"cache-{len(self.caches)}"
        self.caches.append(self.scene.cache(name, self.origin, "--memory", MEMORY))

    def grow(self) -> None:
        self._tell(3)
