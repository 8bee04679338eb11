"""The command line of bench/run."""

import argparse
import pathlib

from cases import CASES, chosen_cases

ROOT = pathlib.Path(__file__).resolve().parents[1]
SERVERS = ("floor", "nginx", "haproxy", "varnish", "ringside")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def add_programs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("programs").add_argument
    add("--program", default=str(ROOT / "build/ringside"), metavar="FILE",
        help="the ringside to measure (default: build/ringside)")
    add("--compare", metavar="FILE",
        help="another ringside, measured beside it in the same rounds: `other` in the table")
    add("--floor", default=str(ROOT / "build/floor"), metavar="FILE",
        help="the floor (default: build/floor, which scripts/build --bench builds)")
    add("--paced", default=str(ROOT / "build/paced"), metavar="FILE",
        help="the client that keeps to a rate (default: build/paced)")
    add("--servers", type=words, default=list(SERVERS), metavar="NAME,...",
        help=f"of {', '.join(SERVERS)} (default: all that are installed)")


def add_load(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("load").add_argument
    add("--rounds", type=positive, default=3, help="medians are of so many (default 3)")
    add("--seconds", type=positive, default=3, help="of each round of each server (default 3)")
    add("--paths", type=positive, default=10000, help="drawn log-uniformly (default 10000)")
    add("--replicas", type=positive, default=10, help="caches behind a front (default 10)")
    add("--shard-key", default="country,path",
        help="of the sidecar, without a country database (default country,path)")
    add("--log", metavar="FILE", help="an access log for the case log, in the Combined Log Format")
    add("--patience", type=int, default=0, metavar="SECONDS",
        help="on a shared machine: wait so long in all for quiet moments, and measure again what "
        "others disturbed (default 0)")
    add("--quick", action="store_true", help="a smoke run: few paths, one round of one second")


def parser_of(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/run", description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_argument_group("cases").add_mutually_exclusive_group()
    which.add_argument("--cases", type=words, metavar="NAME,...",
                       help="default " + ",".join(case.name for case in CASES if case.default))
    which.add_argument("--all", action="store_true", help="every case; log only with --log")
    which.add_argument("--list", action="store_true", help="tell the cases, and measure nothing")
    add_programs(parser)
    add_load(parser)
    add = parser.add_argument_group("results").add_argument
    add("--json", metavar="FILE", help="all rounds as JSON too")
    add("--plot", metavar="FILE", help="a picture too, by its name .svg or .png")
    add("--no-calls", action="store_true", help="leave the count of system calls out")
    add("--hold", action="store_true",
        help="start and warm the servers of one case, tell their process ids, wait for Ctrl-C; for "
        "profilers")
    return parser


def options(description: str, arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(description)
    chosen = parser.parse_args(arguments)
    if chosen.quick:
        chosen.paths, chosen.rounds, chosen.seconds = min(chosen.paths, 300), 1, 1
    if unknown := set(chosen.servers) - set(SERVERS):
        parser.error(f"--servers: no {', '.join(sorted(unknown))}; choose of {', '.join(SERVERS)}")
    try:
        chosen.cases = chosen_cases(chosen.cases, chosen.all, chosen.log is not None)
    except ValueError as error:
        parser.error(str(error))
    if chosen.hold and len(chosen.cases) != 1:
        parser.error("--hold needs one case: --cases NAME")
    if chosen.compare:
        chosen.servers = [*chosen.servers, "other"]
    if chosen.plot and pathlib.Path(chosen.plot).suffix not in (".svg", ".png"):
        parser.error("--plot needs a name that ends with .svg or .png")
    return chosen
