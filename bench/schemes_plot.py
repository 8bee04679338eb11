#!/usr/bin/python3
"""bench/schemes_plot.py FILE.json OUT.svg: what `ringside simulate --json` says, as a picture.

Of the first change: the keys that move, of each scheme; how even it is afterwards; what a look-up
costs. docs/schemes.svg is drawn by it.
"""

import argparse
import json
import pathlib
import sys

BLUE, LIGHT, ORANGE, GREY = "#0072b2", "#a3bfdb", "#e69f00", "#6b6b6b"
CUT = 2.5  # a bar of a scheme that gives all to one replica is no longer than that


def bars(place, names, values, texts, colour) -> None:
    place.barh(names, values, color=colour)
    for index, (value, text) in enumerate(zip(values, texts)):
        place.text(value, index, f" {text}", va="center", fontsize=8)


def spans(place, names, rows) -> None:
    for index, row in enumerate(rows):
        for low, high, shift, colour in (
            (row["keys_min"], row["keys_peak"], -0.19, BLUE),
            (row["requests_min"], row["requests_peak"], 0.19, ORANGE),
        ):
            end = min(high, CUT)
            place.barh(index + shift, end - low, left=low, height=0.34, color=colour)
            place.text(end, index + shift, f" {low:.2f}–{high:.2f}", va="center", fontsize=7)
    place.set_yticks(range(len(names)), names)
    place.axvline(1, color="#333", linestyle="--", linewidth=1)


def draw(report: dict, file: pathlib.Path) -> None:
    import matplotlib  # noqa: PLC0415: only who draws needs it
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "ringside"  # the same picture has the same bytes
    from matplotlib import pyplot  # noqa: PLC0415
    rows = [row for row in report["rows"] if row["step"] == 1 and not row["refused"]]
    names = [row["scheme"] for row in rows]
    figure, places = pyplot.subplots(1, 3, figsize=(13, 0.42 * len(rows) + 1.5), layout="constrained")
    moved = [row["moved_percent"] for row in rows]
    bars(places[0], names, moved, [f"{value:.1f}" for value in moved], BLUE)
    places[0].axvline(rows[0]["moved_percent_least"], color="#333", linestyle="--", linewidth=1)
    places[0].set_title(f"Keys that move, {rows[0]['before']} → {rows[0]['after']} replicas\n"
                        "(dashed: the least possible)", fontsize=9, loc="left")
    places[0].set_xlabel("% of all keys", fontsize=8)
    spans(places[1], names, rows)
    places[1].set_title("Emptiest to fullest replica afterwards\n"
                        "(blue: keys; orange: requests; dashed: even; cut at 2.5)", fontsize=9, loc="left")
    places[1].set_xlabel("multiple of the replica's fair share", fontsize=8)
    cost = [row["look_up_ns"] for row in rows]
    bars(places[2], names, cost, [f"{value:.3g}" for value in cost], GREY)
    places[2].set_title("Look-up of a hashed key\n", fontsize=9, loc="left")
    places[2].set_xlabel("ns", fontsize=8)
    for place in places:
        place.invert_yaxis()
        place.margins(x=0.22, y=0.02)
        place.tick_params(labelsize=8)
        place.spines[["top", "right"]].set_visible(False)
    figure.suptitle(report["title"], fontsize=9, x=0.99, horizontalalignment="right")
    figure.savefig(file, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("report", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("picture", type=pathlib.Path, metavar="OUT.svg")
    options = parser.parse_args()
    draw(json.loads(options.report.read_text(encoding="utf-8")), options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
