"""What was measured, as a table for people and as JSON."""

import dataclasses
import statistics

from load import Round

FIGURES = ("requests_per_s", "cpu_us_per_request", "cpu_share", "others_share", "p50_us", "p99_us")


@dataclasses.dataclass
class Row:
    hops: int
    server: str
    size: int
    rounds: list[Round]

    def median(self, figure: str) -> float:
        return statistics.median(getattr(each, figure) for each in self.rounds)

    def origin_requests(self) -> int:
        return sum(each.origin_requests for each in self.rounds)


def size_text(size: int) -> str:
    return f"{size // 1024} KiB" if size % 1024 == 0 else f"{size} B"


def hops_text(hops: int) -> str:
    return "one hop" if hops == 1 else "two hops"


def pairs(rows: list[Row]) -> list[tuple[Row, Row]]:
    """(nginx, ringside) of the same hops and size, where both were measured."""
    found = {(row.hops, row.size, row.server): row for row in rows}
    return [(found[hops, size, "nginx"], row) for (hops, size, server), row in found.items()
            if server == "ringside" and (hops, size, "nginx") in found]


def ratio(ours: Row, theirs: Row, figure: str) -> float:
    return ours.median(figure) / theirs.median(figure)


def spread(row: Row, figure: str) -> float:
    values = [getattr(each, figure) for each in row.rounds]
    return (max(values) - min(values)) / statistics.median(values)


def table(rows: list[Row]) -> str:
    lines = [f"{'':9} {'body':>7}  {'server':9} {'req/s':>9} {'CPU us/req':>11} {'spread':>7} "
             f"{'p50 us':>7} {'p99 us':>7} {'core':>5} {'others':>7} {'origin':>7}"]
    for row in rows:
        lines.append(
            f"{hops_text(row.hops):9} {size_text(row.size):>7}  {row.server:9} "
            f"{row.median('requests_per_s'):9,.0f} {row.median('cpu_us_per_request'):11.2f} "
            f"{spread(row, 'cpu_us_per_request'):7.0%} "
            f"{row.median('p50_us'):7,.0f} {row.median('p99_us'):7,.0f} "
            f"{row.median('cpu_share'):5.0%} {row.median('others_share'):7.0%} "
            f"{row.origin_requests():7,}")
    lines.append("")
    for theirs, ours in pairs(rows):
        lines.append(
            f"{hops_text(ours.hops):9} {size_text(ours.size):>7}  ringside / nginx: "
            f"{ratio(ours, theirs, 'requests_per_s'):.2f} x the req/s, "
            f"{ratio(ours, theirs, 'cpu_us_per_request'):.2f} x the CPU per request")
    return "\n".join(lines)


def as_json(rows: list[Row], about: dict) -> dict:
    return {
        "about": about,
        "rows": [{
            "hops": row.hops,
            "server": row.server,
            "size_bytes": row.size,
            "median": {figure: row.median(figure) for figure in FIGURES},
            "origin_requests": row.origin_requests(),
            "rounds": [dataclasses.asdict(each) for each in row.rounds],
        } for row in rows],
        "ringside_to_nginx": [{
            "hops": ours.hops,
            "size_bytes": ours.size,
            "requests_per_s": ratio(ours, theirs, "requests_per_s"),
            "cpu_us_per_request": ratio(ours, theirs, "cpu_us_per_request"),
        } for theirs, ours in pairs(rows)],
    }
