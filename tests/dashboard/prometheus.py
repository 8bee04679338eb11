"""A Prometheus of the test's own, with the scrape configuration and the rules of k8s/."""

import contextlib
import dataclasses
import datetime
import http.client
import http.server
import json
import math
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

from ringside import ROOT, WAIT_S, die_with_parent, wait_until

MONITORING = ROOT / "k8s" / "monitoring"
RULES = ROOT / "k8s" / "rules" / "ringside.rules.yaml"
SCRAPE_S = 1
TOLERANCE_S = 0.01  # of the times of samples, which Prometheus makes regular

# Debian's Prometheus is built without Kubernetes: a file says what the API server would.
DISCOVERY = "    kubernetes_sd_configs:\n      - role: pod\n"
FILE = "    file_sd_configs:\n      - files: [pods.json]\n"


def configuration(name: str, folder: pathlib.Path, jobs: dict[str, str]) -> pathlib.Path:
    """k8s/monitoring/NAME for the test: pods out of pods.json, quicker, and with more jobs."""
    text = (MONITORING / name).read_text(encoding="utf-8")
    if text.count(DISCOVERY) != 1 or text.count("_interval: 15s") != 2:
        raise AssertionError(f"{name} does not look as expected: change the test with it")
    text = text.replace(DISCOVERY, FILE).replace("_interval: 15s", f"_interval: {SCRAPE_S}s")
    for job, address in jobs.items():
        text += f"  - job_name: {job}\n    static_configs: [{{targets: ['{address}']}}]\n"
    shutil.copy(RULES, folder)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def pod(
    name: str, namespace: str, address: str, port: str = "admin", annotated: str = "", **labels: str
) -> dict:
    """A port of a pod, as role: pod finds it. `annotated`: the port that its annotations name."""
    meta = {"namespace": namespace, "pod_name": name, "pod_container_port_name": port}
    meta |= {f"pod_label_{label}": value for label, value in labels.items()}
    meta |= {"pod_phase": "Running"}
    if annotated:
        said = {"scrape": "true", "port": annotated, "path": "/metrics"}
        meta |= {f"pod_annotation_prometheus_io_{name}": value for name, value in said.items()}
    return {
        "targets": [address],
        "labels": {f"__meta_kubernetes_{name}": value for name, value in meta.items()},
    }


CACHE = {"app_kubernetes_io_name": "ringside", "app_kubernetes_io_component": "cache"}
SIDECAR = {"app_kubernetes_io_name": "shop", "ringside_sidecar": "true"}


@dataclasses.dataclass
class Series:
    labels: dict[str, str]
    points: list[tuple[float, float]]

    @property
    def last(self) -> float:
        return self.points[-1][1]


class Prometheus:
    def __init__(self, folder: pathlib.Path, name: str, jobs: dict[str, str]):
        self.folder = folder
        self.set_pods([])
        path = configuration(name, folder, jobs)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = "127.0.0.1:{}".format(free.getsockname()[1])
        self._log = (folder / "prometheus.log").open("w+", encoding="utf-8")
        self.child = subprocess.Popen(
            [
                "prometheus", f"--config.file={path}", f"--web.listen-address={self.address}",
                f"--storage.tsdb.path={folder / 'data'}", "--log.level=warn",
            ],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            preexec_fn=die_with_parent,
        )  # fmt: skip
        try:
            wait_until(self._is_ready, "Prometheus to be ready")
        except BaseException:
            self.stop()
            raise

    def _is_ready(self) -> bool:
        if self.child.poll() is not None:
            raise AssertionError(f"ended with {self.child.returncode}: {self._said()}")
        try:
            return self._get("/-/ready")[0] == 200
        except ConnectionRefusedError:
            return False

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read()

    def stop(self) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(WAIT_S)
        self._log.close()

    def set_pods(self, pods: list[dict]) -> None:
        new = self.folder / "pods.json.new"
        new.write_text(json.dumps(pods), encoding="utf-8")
        new.rename(self.folder / "pods.json")

    def _get(self, target: str, **parameters) -> tuple[int, bytes]:
        host, port = self.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=WAIT_S)
        try:
            connection.request("GET", f"{target}?{urllib.parse.urlencode(parameters, True)}")
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def api(self, target: str, **parameters):
        status, body = self._get(f"/api/v1/{target}", **parameters)
        answer = json.loads(body)
        if status != 200 or answer["status"] != "success" or answer.get("warnings"):
            raise AssertionError(f"{target} {parameters}: {status} {answer}")
        return answer["data"]

    def instant(self, query: str, at: float | None = None) -> list[Series]:
        """Now, or at another time."""
        data = self.api("query", query=query, time=f"{time.time() if at is None else at:.3f}")
        if data["resultType"] != "vector":
            raise AssertionError(f"gives no series but a {data['resultType']}: {query}")
        return [_series(one["metric"], [one["value"]]) for one in data["result"]]

    def over(self, query: str, since: float, until: float, step_s: float = SCRAPE_S) -> list:
        """In steps, the last of which is at the end."""
        start = until - math.ceil((until - since) / step_s) * step_s
        data = self.api(
            "query_range", query=query, start=f"{start:.3f}", end=f"{until:.3f}", step=step_s
        )
        return [_series(one["metric"], one["values"]) for one in data["result"]]

    def label_values(self, query: str) -> list[str]:
        """What Grafana makes of `label_values(SELECTOR, LABEL)`."""
        found = re.fullmatch(r"label_values\((.+), (\w+)\)", query)
        if not found:
            raise AssertionError(f"no label_values: {query}")
        return self.api(f"label/{found[2]}/values", **{"match[]": found[1]})

    def targets(self) -> list[dict]:
        return self.api("targets", state="active")["activeTargets"]

    def scraped(self, count: int) -> float:
        """A time after a scrape of each of so many targets, which began after this was asked."""
        asked = time.time()

        def latest() -> float | None:
            targets = self.targets()
            times = [_timestamp(target["lastScrape"]) for target in targets]
            if len(times) != count or any(target["health"] != "up" for target in targets):
                return None
            # No further scrape, which might fail, lies before that time.
            is_one_round = min(times) > asked and max(times) - min(times) < SCRAPE_S
            return max(times) + TOLERANCE_S if is_one_round else None

        return wait_until(latest, f"{count} targets to be scraped")


def _series(labels: dict[str, str], values: list) -> Series:
    return Series(labels, [(float(when), float(value)) for when, value in values])


def _timestamp(text: str) -> float:
    """Of RFC 3339 with nanoseconds, of which Python takes six digits."""
    return datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text)).timestamp()


class Page:
    """A process that is nothing but its /metrics."""

    def __init__(self, text: str):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # the scrape took too long for it
                    self.wfile.write(text.encode())

            def log_message(self, *_) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = "127.0.0.1:{}".format(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
