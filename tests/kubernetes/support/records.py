"""What clients and origin wrote down, and what follows from it. Functions of values; times are
time.monotonic(), which all processes of one machine share."""

import collections
import dataclasses
import pathlib
import re
from collections.abc import Iterable

Key = tuple[str, str]  # path, country


@dataclasses.dataclass(frozen=True)
class Record:
    """One request of a client."""

    start: float
    end: float
    front: str
    path: str
    country: str
    status: int  # 0: no answer, or not the one to this request
    cache_status: str
    trouble: str  # empty: none

    @property
    def key(self) -> Key:
        return self.path, self.country

    @property
    def failed(self) -> bool:
        return self.status != 200 or bool(self.trouble)

    @property
    def owner(self) -> str:
        """The cache that stands first, nearest to the origin (RFC 9211 §2)."""
        return re.split("[;,]", self.cache_status)[0].strip()

    @property
    def is_hit(self) -> bool:
        """The tier had it: the replica that was asked, or while its bucket moves another one."""
        said = re.split("; *", self.cache_status.split(",")[0])
        return "hit" in said or "detail=peer-fill" in said


def read_records(path: pathlib.Path) -> list[Record]:
    records = []
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):  # else it is still being written
            start, end, front, path_asked, country, status, *rest = line[:-1].split("\t")
            records.append(
                Record(float(start), float(end), front, path_asked, country, int(status), *rest)
            )
    return records


def read_fetches(path: pathlib.Path) -> list[tuple[float, Key]]:
    lines = (line.split("\t") for line in path.read_text().splitlines(True) if line[-1] == "\n")
    return [(float(time), (asked, country.strip())) for time, asked, country in lines]


def fetched_again(before: Iterable[Key], after: Iterable[Key]) -> list[Key]:
    """What the origin was asked for though it had given it before."""
    known = set(before)
    again = []
    for key in after:
        if key in known:
            again.append(key)
        known.add(key)
    return again


def between(records: Iterable[Record], begin: float, end: float) -> list[Record]:
    """Those that were begun in that time."""
    return [record for record in records if begin <= record.start < end]


def failures(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record.failed]


def hit_rate(records: list[Record]) -> float:
    """In percent. Of nothing: 0."""
    return 100 * sum(record.is_hit for record in records) / max(1, len(records))


def owners(records: Iterable[Record]) -> dict[Key, str]:
    """Who answered last for each key."""
    return {record.key: record.owner for record in records if not record.failed}


def moved(before: dict[Key, str], after: dict[Key, str]) -> collections.Counter:
    """How many of the keys in both went from whom to whom."""
    both = before.keys() & after.keys()
    return collections.Counter(
        (before[key], after[key]) for key in both if before[key] != after[key]
    )


def answered_by(records: Iterable[Record], owner: str) -> list[Record]:
    return [record for record in records if record.owner == owner and not record.failed]


def last_of_leaver(records: Iterable[Record], owner: str, left: float, next_there: float) -> float:
    """When the last request began that a pod answered which was to get none since `left`; that
    time: it got none. From `next_there` on there is another pod of its name, which begins to be
    asked when the sidecars hear that it is ready: that may be before we hear it."""
    starts = [one.start for one in answered_by(records, owner) if left < one.start < next_there]
    return max(starts, default=left)


def head_start(records: Iterable[Record], owner: str, there: float, ready: float) -> float:
    """How long before `ready` a pod answered that is there since `there`; 0: not before."""
    ends = [one.end for one in answered_by(records, owner) if there < one.end < ready]
    return ready - min(ends, default=ready)


def most_in_flight(records: list[Record]) -> int:
    """How many requests had been begun and not answered, at the worst moment."""
    changes = [(record.start, 1) for record in records] + [(record.end, -1) for record in records]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def percentile(values: list[float], percent: float) -> float:
    """The smallest value that so many percent are not beyond."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]
