"""Requests: those that warm a cache, and wrk's that are measured."""

import dataclasses
import http.client
import itertools
import json
import pathlib
import subprocess

from cases import Case
from machine import Deployment
from processes import BenchError

SCRIPT = pathlib.Path(__file__).with_name("load.lua")
SAMPLES = 100
CHANGING_BODIES = ("floor",)  # whose bodies are not the origin's
WARM_S = 1  # of each run of wrk
OVERLAP = 8  # requests of each connection that are asked again


@dataclasses.dataclass(frozen=True)
class Traffic:
    """The same for every server. Requests differ in the number at the end of the path only."""

    wrk: str
    paced: str
    paths: int
    seconds: int
    log_targets: str = ""  # a file
    rate: int = 0  # per second, of a case that keeps to one
    seed: int = 11


@dataclasses.dataclass(frozen=True)
class Told:
    """What the client of one round saw."""

    requests: int
    duration_us: float
    p50_us: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None
    errors: int = 0


def body_of(size: int) -> bytes:
    return b"ringside" * (size // 8) + b"." * (size % 8)


def get(port: int, target: str, headers: dict[str, str]) -> tuple[int, bytes, str]:
    """(status, body, entity tag)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("ETag", "")
    finally:
        connection.close()


def fetched(origin: int) -> int:
    """How many requests the origin has had, this one included (nginx's stub_status)."""
    words = get(origin, "/requests", {})[1].split()
    return int(words[words.index(b"requests") + 3])


def headers_of(case: Case, port: int) -> list[str]:
    """The lines that each request of this case has, an entity tag filled in."""
    if "{etag}" not in "".join(case.headers):
        return list(case.headers)
    etag = get(port, f"/{case.size}/1", {})[2]
    return [line.replace("{etag}", etag) for line in case.headers]


def is_wrong(case: Case, status: int, body: bytes) -> str:
    """What is wrong with an answer of this case; a fast wrong answer is no result."""
    right = body_of(case.size)[:case.answer_bytes()]
    if status == case.status and body == right:
        return ""
    return f"{status} and {len(body)} bytes in place of {case.status} and {len(right)}"


def check(case: Case, deployment: Deployment, paths: int) -> list[str]:
    """Asks for some of the paths in the way of the case, and tells which answers were wrong."""
    if deployment.key.server in CHANGING_BODIES:
        return []
    wrong = []
    headers = dict(line.split(": ", 1) for line in headers_of(case, deployment.port))
    for number in range(1, paths + 1, max(1, paths // SAMPLES)):
        target = f"/{case.size}/{number}"
        try:
            status, body, _ = get(deployment.port, target, headers)
            if mistake := is_wrong(case, status, body):
                wrong.append(f"GET {target} gave {mistake}")
        except (OSError, http.client.HTTPException) as error:
            wrong.append(f"GET {target}: {error!r}")
    return wrong


def warm(case: Case, deployment: Deployment, traffic: Traffic) -> int:
    """Asks for every path once. Returns how many answers failed."""
    if not deployment.warmed and deployment.key.server != "floor":
        plain = dataclasses.replace(case, headers=(), depth=1, status=200, body=None,
                                    connections=min(case.connections, 64))
        deployment.warmed = True
        return ask_for_all(plain, deployment, traffic).errors
    return 0


def ask_for_all(case: Case, deployment: Deployment, traffic: Traffic, first: int = 0) -> Told:
    """Runs wrk until it has gone through all paths from the first on; what was under way at an end
    is asked again."""
    requests, errors = first, 0
    duration_us = 0.0
    while requests < case.path_count(traffic.paths):
        told = run_wrk(case, deployment, traffic, "all", requests, WARM_S)
        if told.requests <= case.connections:
            raise BenchError(f"{deployment.name} gave {told.requests} answers in {WARM_S} s")
        # Some connection may have been slower than the others.
        requests += max(told.requests // 2, told.requests - OVERLAP * case.connections)
        duration_us += told.duration_us
        errors += told.errors
    return Told(requests, duration_us, errors=errors)


def command_of(case: Case, port: int, traffic: Traffic, order: str, salt: str, seconds: int,
               headers: list[str]) -> list[str]:
    fields = list(itertools.chain.from_iterable(("--header", line) for line in headers))
    return [traffic.wrk, "--threads", "1", "--connections", str(case.connections),
            "--duration", f"{seconds}s", "--timeout", "30s", "--script", str(SCRIPT), *fields,
            f"http://127.0.0.1:{port}/", "--", order, str(case.size),
            str(case.path_count(traffic.paths)), str(traffic.seed), salt, str(case.misses),
            str(case.depth), traffic.log_targets]


def run_wrk(case: Case, deployment: Deployment, traffic: Traffic, order: str, salt: object,
            seconds: int) -> Told:
    command = command_of(case, deployment.port, traffic, order, str(salt), seconds,
                         headers_of(case, deployment.port))
    told = run_client(case, command)
    # wrk takes the answers of a batch for requests that it sent one by one, and corrects by that.
    return told if case.depth == 1 else dataclasses.replace(told, p50_us=None, p99_us=None,
                                                            p999_us=None)


def run_paced(case: Case, deployment: Deployment, traffic: Traffic) -> Told:
    figures = (deployment.port, case.connections, traffic.rate, traffic.seconds, case.size,
               case.path_count(traffic.paths), traffic.seed)
    return run_client(case, [traffic.paced, *map(str, figures)])


def run_client(case: Case, command: list[str]) -> Told:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        raise BenchError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return told_by(json.loads(lines[0]), case.answer_bytes())


def told_by(words: dict, least_bytes: int) -> Told:
    """From what load.lua or paced wrote. Bytes that are missing are answers that were too short."""
    errors = sum(words["errors"].values())
    missing = words["requests"] * least_bytes - words["bytes"]
    if missing > 0:
        errors += -(-missing // max(least_bytes, 1))
    return Told(words["requests"], words["duration_us"], words["p50_us"], words["p99_us"],
                words["p999_us"], errors)
