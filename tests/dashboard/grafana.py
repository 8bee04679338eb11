"""The dashboard, read as Grafana reads it: its panels, its queries, what stands in their place."""

import dataclasses
import json
import pathlib
import re
from collections.abc import Iterator

from ringside import ROOT

PATH = ROOT / "k8s" / "dashboards" / "ringside.json"

# What Grafana puts in place of these: here for a scrape interval of a second and a short range.
INTERVALS = {"__rate_interval": "4s", "__interval": "1s", "__range": "2m"}
ALL = "$__all"


@dataclasses.dataclass
class Query:
    panel: str
    ref: str
    text: str
    legend: str
    is_instant: bool

    @property
    def name(self) -> tuple[str, str]:
        return (self.panel, self.ref)


class Dashboard:
    def __init__(self, path: pathlib.Path = PATH):
        self.text = path.read_text(encoding="utf-8")
        self.json = json.loads(self.text)
        self.variables = {v["name"]: v for v in self.json["templating"]["list"]}

    def panels(self) -> Iterator[dict]:
        """Rows too, and what lies folded in them."""
        for panel in self.json["panels"]:
            yield panel
            yield from panel.get("panels", [])

    def queries(self) -> list[Query]:
        return [
            Query(panel["title"], t["refId"], t["expr"], t["legendFormat"], t["instant"])
            for panel in self.panels()
            for t in panel.get("targets", [])
        ]

    def annotations(self) -> dict[str, str]:
        listed = self.json["annotations"]["list"]
        return {a["name"]: a["expr"] for a in listed if not a.get("builtIn")}

    def variable_queries(self) -> dict[str, str]:
        return {
            name: variable["query"]["query"]
            for name, variable in self.variables.items()
            if variable["type"] == "query"
        }

    def expand(self, text: str, **chosen: list[str]) -> str:
        """With these values of variables; those that are not named are at All."""
        values = dict(INTERVALS)
        for name, variable in self.variables.items():
            values[name] = _value(variable, chosen.get(name, [ALL]))
        unknown = set(re.findall(r"\$\{?(\w+)", text)) - set(values) - {"1"}
        if unknown:
            raise AssertionError(f"no variable of the dashboard: {unknown} in {text}")
        return re.sub(r"\$\{?([a-z_]\w*)\}?", lambda found: values[found[1]], text)


def _value(variable: dict, chosen: list[str]) -> str:
    if chosen == [ALL]:
        return variable.get("allValue", "")
    # As its Prometheus data source does: a regular expression inside a PromQL string.
    escaped = [re.sub(r"[\\^$.*+?()\[\]{}|]", r"\\\\\g<0>", value) for value in chosen]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


COUNTING = re.compile(r"\b(?:rate|increase)\((\w+(?:\{[^}]*\})?)\[[^\]@]+\]\)")


def exactly(text: str, since: float, until: float) -> str:
    """The query over what counters grew by between two times, in place of its rates.

    Rates are extrapolated to the ends of their window, differences are exact. A series that was not
    there before begins at 0.
    """
    if not COUNTING.search(text):
        raise AssertionError(f"has no rate: {text}")
    now, before = f"@ {until:.3f}", f"@ {since:.3f}"
    return COUNTING.sub(rf"(\1 {now} - (\1 {before} or \1 {now} * 0))", text)


def metrics_in(text: str) -> set[str]:
    """The families that a query or a rule names; recorded ones have colons."""
    names = re.findall(r"(?<![\w:])((?:ringside|process)_[a-z_]+)(?![\w:])", text)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def documented() -> set[str]:
    """The families of docs/metrics.md."""
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `((?:ringside|process)_\w+)", page, re.MULTILINE))
