"""The parts of bench/run, which lie in a folder of their own, and made-up rounds."""

import os
import pathlib
import sys

ROOT = pathlib.Path(os.environ.get("RINGSIDE_ROOT") or pathlib.Path(__file__).parents[2])
sys.path.insert(0, str(ROOT / "bench"))

from cases import BY_NAME  # noqa: E402
from measure import Round  # noqa: E402
from report import Row  # noqa: E402


def some_round(cpu: float | None, **more: object) -> Round:
    figures = {
        "requests": 1000, "requests_per_s": 500.0, "cpu_us_per_request": cpu,
        "user_us_per_request": 1.0, "system_us_per_request": 2.0, "front_us_per_request": None,
        "caches_us_per_request": None, "switches_per_request": 0.5, "cpu_share": 0.9,
        "others_share": 0.0, "p50_us": 10.0, "p99_us": 20.0, "p999_us": 30.0, "pss_mib": 8.0,
        "origin_requests": 0, "errors": 0,
    }
    return Round(**(figures | more))


def some_row(server: str, *cpu: float, case: str = "hit-1k") -> Row:
    return Row(BY_NAME[case], server, [some_round(each) for each in cpu],
               peer=server != "ringside")
