"""What was measured: a table at the end, and JSON."""

import json
import pathlib


def text_of(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.3g}"


class Figures:
    """Scenario, what, value with its unit; in the order in which they came."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, float, str]] = []

    def add(self, scenario: str, what: str, value: float, unit: str = "") -> None:
        self._rows.append((scenario, what, round(value, 4), unit))

    def table(self) -> str:
        lines, last = [], None
        for scenario, what, value, unit in self._rows:
            if scenario != last:
                lines.append(scenario)
                last = scenario
            lines.append(f"  {what:<66} {text_of(value):>10} {unit}".rstrip())
        return "\n".join(lines)

    def write(self, path: pathlib.Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        names = ("scenario", "what", "value", "unit")
        rows = [dict(zip(names, row, strict=True)) for row in self._rows]
        path.write_text(json.dumps(rows, indent=2) + "\n")


figures = Figures()
