"""What is measured: each case by its name, as one row of a table."""

import dataclasses

KIB = 1024
MIB = 1024 * KIB
# So many bytes of different bodies at most, whatever --paths says: a cache of 1 GiB holds them.
WORKING_SET_BYTES = 256 * MIB
SPARE_DESCRIPTORS = 1000  # of a process, that are no connections of the load
NEAR_PATHS = 1000  # what a near cache of 8 MiB holds of 1 KiB

# one: a cache. two: a front over caches. near: a front that answers by itself; peers have none of
# that kind, so beside it stand their two hops, and the floor of one.
PEERS = {
    "one": ("nginx", "varnish"),
    "two": ("nginx", "haproxy"),
    "near": ("nginx", "haproxy"),
}
OURS = ("ringside", "other")


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    text: str
    shape: str = "one"
    size: int = KIB  # of the bodies at the origin
    connections: int = 64
    kind: str = "load"  # load, log, steady, followers, idle or fill
    manner: str = "keep"  # keep, close: a new connection per request, count: pipelined
    depth: int = 1  # requests that are sent at once
    headers: tuple[str, ...] = ()  # {etag} is that of the body
    status: int = 200
    body: int | None = None  # bytes of the answer, where they are not all of `size`
    misses: float = 0.0  # the share of requests that are for something new
    beside: str = ""  # websocket or large: what else goes through the servers meanwhile
    floor: bool = True  # whether the floor says anything here
    default: bool = False
    paths: int | None = None  # at most
    least_seconds: int = 1  # of a round, where it takes long until all are connected
    once: bool = False  # one round, whatever --rounds says

    def answer_bytes(self) -> int:
        return self.size if self.body is None else self.body

    def all_hits(self) -> bool:
        return self.kind in ("load", "steady") and self.misses == 0

    def path_count(self, chosen: int) -> int:
        if self.kind == "fill":
            return chosen
        most = WORKING_SET_BYTES // max(self.size, 1)
        return min(chosen, most, self.paths or most)

    def servers(self) -> tuple[str, ...]:
        """All that take part, the floor first and ours last."""
        if self.kind == "fill":
            return ("varnish", *OURS)
        return (("floor",) if self.floor else ()) + PEERS[self.shape] + OURS


def fitted(case: Case, descriptors: int) -> Case:
    """The case with as many connections as a front may have: two descriptors for each."""
    most = most_clients(descriptors)
    if case.connections <= most:
        return case
    return dataclasses.replace(case, connections=most,
                               text=f"{case.text}, {most:,} of them by the limit of descriptors")


def most_clients(descriptors: int) -> int:
    return max(1, (descriptors - SPARE_DESCRIPTORS) // 2)


def hit(name: str, text: str, **more: object) -> Case:
    return Case(name, f"hit at a replica, {text}", **more)


def side(name: str, text: str, **more: object) -> Case:
    return Case(name, f"hit through the sidecar, {text}", shape="two", **more)


# In this order, so that cases with the same servers follow one another.
CASES = (
    hit("hit-100b", "100 B", size=100),
    hit("hit-1k", "1 KiB", default=True),
    hit("hit-1k-1c", "1 KiB, 1 connection", connections=1),
    hit("hit-1k-8c", "1 KiB, 8 connections", connections=8),
    hit("hit-1k-256c", "1 KiB, 256 connections", connections=256),
    hit("hit-close", "1 KiB, a new connection per request", manner="close",
        headers=("Connection: close",)),
    hit("hit-pipelined", "1 KiB, 16 requests at once", manner="count", depth=16),
    hit("hit-steady", "1 KiB, at 70 % of ringside's peak", kind="steady"),
    Case("304", "not modified, at a replica", status=304, body=0,
         headers=("If-None-Match: {etag}",)),
    Case("miss-1pct", "1 % misses at a replica, 1 KiB", misses=0.01),
    Case("miss", "miss at a replica, 1 KiB", misses=1.0),
    Case("followers", "a thousand followers of one miss, at a replica", kind="followers",
         connections=1000, floor=False),
    hit("hit-16k", "16 KiB", size=16 * KIB, default=True),
    Case("range", "the first KiB of 16, at a replica", size=16 * KIB, body=KIB, status=206,
         headers=("Range: bytes=0-1023",)),
    hit("hit-1m", "1 MiB", size=MIB),
    Case("idle", "ten caches and a front that nobody asks", shape="two", kind="idle", floor=False),
    side("side-1k", "1 KiB", default=True),
    side("side-1k-1c", "1 KiB, 1 connection", connections=1),
    side("side-1k-8c", "1 KiB, 8 connections", connections=8),
    side("side-1k-256c", "1 KiB, 256 connections", connections=256),
    side("side-close", "1 KiB, a new connection per request", manner="close",
         headers=("Connection: close",)),
    side("side-pipelined", "1 KiB, 16 requests at once", manner="count", depth=16),
    side("side-steady", "1 KiB, at 70 % of ringside's peak", kind="steady"),
    side("websocket", "1 KiB, a WebSocket beside", beside="websocket", floor=False),
    side("large", "1 KiB, a body of 1 GiB beside", beside="large", floor=False),
    Case("side-miss", "miss through the sidecar, 1 KiB", shape="two", misses=1.0),
    Case("log", "the log of --log, over and over, each time cold, through the sidecar", shape="two",
         kind="log", floor=False),
    side("side-1k-10000c", "1 KiB, 10,000 connections", connections=10_000, least_seconds=10),
    side("side-16k", "16 KiB", size=16 * KIB, default=True),
    Case("near-1k", "near-cache hit, 1 KiB", shape="near", paths=NEAR_PATHS, default=True),
    Case("million", "a million objects of 1 KiB stored at a replica", kind="fill", floor=False,
         once=True),
)
BY_NAME = {case.name: case for case in CASES}


def chosen_cases(names: list[str] | None, everything: bool, has_log: bool) -> list[Case]:
    """The cases to measure, in the order of the table; a ValueError names what is none."""
    if unknown := set(names or ()) - set(BY_NAME):
        raise ValueError(f"no case {', '.join(sorted(unknown))}; --list tells them")
    if "log" in (names or ()) and not has_log:
        raise ValueError("the case log needs --log FILE")
    if everything:
        return [case for case in CASES if case.kind != "log" or has_log]
    return [case for case in CASES if (case.name in names if names else case.default)]
