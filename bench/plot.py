"""The picture: of each case one field, of each server one bar, user and system time apart."""

import pathlib

from processes import BenchError
from report import Row, cost

COLUMNS = 3
FIELD_INCHES = (4.2, 2.1)
UNITS = {"idle": "% of a core", "fill": "MiB", "steady": "p99 in us"}


def fields_of(rows: list[Row]) -> list[tuple[str, list[tuple[str, float, float]]]]:
    """Of each case its title and bars: (server, user or all, system). The last is drawn on top."""
    fields: dict[str, list[tuple[str, float, float]]] = {}
    for row in rows:
        user, system = row.median("user_us_per_request"), row.median("system_us_per_request")
        value = cost(row)
        if value is None:
            continue
        if row.case.kind in UNITS:
            user, system = value * (100 if row.case.kind == "idle" else 1), 0.0
        fields.setdefault(title_of(row), []).append((row.server, user or 0.0, system or 0.0))
    return list(fields.items())


def short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def title_of(row: Row) -> str:
    return f"{row.case.name}: {UNITS.get(row.case.kind, 'CPU us per request')}"


def draw(rows: list[Row], file: str, headline: str) -> None:
    try:
        import matplotlib  # noqa: PLC0415: only who wants a picture needs it
        matplotlib.use("Agg")
        from matplotlib import pyplot  # noqa: PLC0415
    except ImportError as error:
        raise BenchError("--plot needs python3-matplotlib, which scripts/setup --bench installs "
                         "for /usr/bin/python3") from error
    fields = fields_of(rows)
    columns = min(COLUMNS, len(fields)) or 1
    lines = -(-len(fields) // columns) or 1
    figure, places = pyplot.subplots(
        lines, columns, squeeze=False,
        figsize=(FIELD_INCHES[0] * columns, FIELD_INCHES[1] * lines + 0.6), layout="constrained")
    for place in places.flat[len(fields):]:
        place.axis("off")
    for place, (title, bars) in zip(places.flat, fields):
        names = [server for server, _, _ in bars]
        user = [bar[1] for bar in bars]
        system = [bar[2] for bar in bars]
        place.barh(names, user, color="#2b6cb0", label="user")
        place.barh(names, system, left=user, color="#a3bfdb", label="system")
        for index, (_, first, second) in enumerate(bars):
            place.text(first + second, index, f" {short(first + second)}", va="center", fontsize=8)
        place.set_title(title, fontsize=9, loc="left")
        place.invert_yaxis()
        place.margins(x=0.18)
        place.tick_params(labelsize=8)
        place.spines[["top", "right"]].set_visible(False)
    if fields:
        figure.legend(*places.flat[0].get_legend_handles_labels(), fontsize=7, ncols=2,
                      loc="upper left", frameon=False)
    figure.suptitle(headline, fontsize=9, x=0.99, horizontalalignment="right")
    figure.savefig(pathlib.Path(file))
    pyplot.close(figure)
