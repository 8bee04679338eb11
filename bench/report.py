"""What was measured, as a table for people and as JSON."""

import dataclasses
import statistics

from cases import Case
from measure import Round

FIGURES = [field.name for field in dataclasses.fields(Round)
           if field.name not in ("errors", "origin_requests", "beside")]
PEERS = ("nginx", "haproxy", "varnish")


@dataclasses.dataclass
class Row:
    """One server in one case."""

    case: Case
    server: str
    rounds: list[Round] = dataclasses.field(default_factory=list)
    calls_per_request: float | None = None
    mistakes: list[str] = dataclasses.field(default_factory=list)
    peer: bool = True  # whose mistakes are counted and shown, and nothing else

    def median(self, figure: str) -> float | None:
        values = [value for each in self.rounds if (value := getattr(each, figure)) is not None]
        return statistics.median(values) if values else None

    def sum(self, figure: str) -> int:
        return sum(getattr(each, figure) for each in self.rounds)

    def spread(self, figure: str) -> float | None:
        """The distance between the best and the worst round, by the median."""
        values = [value for each in self.rounds if (value := getattr(each, figure)) is not None]
        middle = statistics.median(values) if values else 0
        return (max(values) - min(values)) / middle if middle else None


def cost(row: Row) -> float | None:
    """What a case is about: CPU per request mostly."""
    by_kind = {"idle": "cpu_share", "fill": "pss_mib", "steady": "p99_us"}
    return row.median(by_kind.get(row.case.kind, "cpu_us_per_request"))


def divided(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours is not None and theirs else None


def best_peer(rows: list[Row], case: Case) -> Row | None:
    peers = [row for row in rows
             if row.case is case and row.server in PEERS and cost(row) is not None]
    return min(peers, key=cost, default=None)


def find(rows: list[Row], case: Case, server: str) -> Row | None:
    return next((row for row in rows if row.case is case and row.server == server), None)


def ratios(rows: list[Row], row: Row) -> dict[str, float | None]:
    """This row's cost to the floor's, to the best peer's and to the other Ringside's."""
    others = {"floor": find(rows, row.case, "floor"), "best_peer": best_peer(rows, row.case),
              "other": find(rows, row.case, "other") if row.server == "ringside" else None}
    return {name: divided(cost(row), cost(each)) if each else None
            for name, each in others.items()}


def text(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


# Title, width and how each column's text is found in a row and its ratios.
def figure(name: str, form: str):  # noqa: ANN201
    return lambda row, _: text(row.median(name), form)


COLUMNS = (
    ("req/s", 8, figure("requests_per_s", ",.0f")),
    ("CPU us", 7, figure("cpu_us_per_request", ".2f")),
    ("user", 6, figure("user_us_per_request", ".2f")),
    ("system", 6, figure("system_us_per_request", ".2f")),
    ("front", 6, figure("front_us_per_request", ".2f")),
    ("caches", 6, figure("caches_us_per_request", ".2f")),
    ("spread", 6, lambda row, _: text(row.spread("cpu_us_per_request"), ".0%")),
    ("p50 us", 7, figure("p50_us", ",.0f")),
    ("p99 us", 7, figure("p99_us", ",.0f")),
    ("p99.9 us", 8, figure("p999_us", ",.0f")),
    ("calls", 6, lambda row, _: text(row.calls_per_request, ".2f")),
    ("switches", 8, figure("switches_per_request", ".2f")),
    ("MiB", 6, figure("pss_mib", ",.0f")),
    ("core", 7, figure("cpu_share", ".2%")),
    ("others", 6, figure("others_share", ".0%")),
    ("origin", 8, lambda row, _: f"{row.sum('origin_requests'):,}"),
    ("failed", 6, lambda row, _: f"{row.sum('errors'):,}"),
    ("/ floor", 7, lambda _, ratio: text(ratio["floor"], ".2f")),
    ("/ peer", 6, lambda _, ratio: text(ratio["best_peer"], ".2f")),
    ("/ other", 7, lambda _, ratio: text(ratio["other"], ".2f")),
)


def line(first: str, cells: list[str]) -> str:
    padded = [f"{cell:>{width}}" for cell, (_, width, _) in zip(cells, COLUMNS)]
    return " ".join([f"{first:9}", *padded]).rstrip()


def table(rows: list[Row]) -> str:
    lines = []
    case = None
    for row in rows:
        if row.case is not case:
            case = row.case
            lines += ["", f"{case.name}: {case.text}",
                      line("", [title for title, _, _ in COLUMNS])]
        ratio = ratios(rows, row)
        lines.append(line(row.server, [cell(row, ratio) for _, _, cell in COLUMNS]))
        lines += [f"{'':9} {done.beside}" for done in row.rounds if done.beside]
        lines += [f"{'':9} ! {mistake}" for mistake in row.mistakes]
    return "\n".join(lines).lstrip("\n")


def summary(rows: list[Row]) -> str:
    """Ringside alone, a line for each case: by whom its cost was divided, and what came out."""
    lines = [f"{'ringside':16} {'/ floor':>7} {'/ peer':>7} {'':9} {'/ other':>7}"]
    for row in rows:
        if row.server == "ringside":
            ratio, peer = ratios(rows, row), best_peer(rows, row.case)
            lines.append(f"{row.case.name:16} {text(ratio['floor'], '.2f'):>7} "
                         f"{text(ratio['best_peer'], '.2f'):>7} {peer.server if peer else '':9} "
                         f"{text(ratio['other'], '.2f'):>7}")
    return "\n".join(lines)


def as_json(rows: list[Row], about: dict) -> dict:
    return {
        "about": about,
        "rows": [{
            "case": row.case.name,
            "text": row.case.text,
            "server": row.server,
            "median": {figure: row.median(figure) for figure in FIGURES},
            "calls_per_request": row.calls_per_request,
            "ratio_of_cost": ratios(rows, row),
            "origin_requests": row.sum("origin_requests"),
            "errors": row.sum("errors"),
            "mistakes": row.mistakes,
            "rounds": [dataclasses.asdict(each) for each in row.rounds],
        } for row in rows],
    }
