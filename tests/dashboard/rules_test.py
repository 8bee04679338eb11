"""The Prometheus rules, and the configurations that find the pods."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

from grafana import Dashboard, documented, metrics_in
from prometheus import CACHE, RULES, SIDECAR, Prometheus, configuration, pod
from ringside import ROOT, is_sanitized, wait_until

TESTS = RULES.with_name("ringside.rules.test.yaml")
RESOURCE = RULES.with_name("ringside.prometheusrule.yaml")
PAGE = ROOT / "docs" / "kubernetes.md"
SCRAPES = ("scrape.yaml", "scrape-annotations.yaml")


def promtool(*arguments) -> str:
    done = subprocess.run(
        ["promtool", *map(str, arguments)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(done.stdout)
    return done.stdout


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


@unittest.skipIf(is_sanitized(), "what is tested is no code of ours but files")
class TheFiles(WithFolder):
    def test_promtool_finds_nothing_wrong(self):
        self.assertIn("SUCCESS", promtool("check", "rules", "--lint-fatal", RULES))

    def test_alerts_fire_when_they_should_and_only_then(self):
        promtool("test", "rules", TESTS)

    def test_those_tests_can_fail(self):
        """Every mistake is found by the test that is about it."""
        text = RULES.read_text(encoding="utf-8")
        for right, wrong in (
            ("hit_ratio:usual - 0.1\n", "hit_ratio:usual - 0.3\n"),
            ('role="sidecar",result=~"hit|stale|revalidated', 'result=~"hit|stale|revalidated'),
            ("[5m])) > 0\n        for: 1m", "[5m])) >= 0\n        for: 1m"),  # no_replica
            ("count by (job, id) (ringside", "count by (job, namespace, id) (ringside"),
            (":ringside_origin_requests:rate5m > 10", ":ringside_origin_requests:rate5m > 1"),
            ("by {{ $value }} processes", "by {{ $value }} of them"),
        ):
            self.assertIn(right, text)
            text = text.replace(right, wrong)
        (self.folder / RULES.name).write_text(text, encoding="utf-8")
        shutil.copy(TESTS, self.folder)
        with self.assertRaisesRegex(AssertionError, "FAILED") as told:
            promtool("test", "rules", self.folder / TESTS.name)
        for found in (
            "alertname: RingsideHitRateDrop",
            'expr: "namespace_job:ringside_hit_ratio:rate5m"',
            'expr: "namespace_job:ringside_hit_bytes_ratio:rate5m"',
            "alertname: RingsideNoReplica",
            "alertname: RingsideTopologiesDisagree",
            "alertname: RingsideOriginSurge",
            "alertname: RingsideOriginFailing",
        ):
            self.assertIn(found, str(told.exception))

    def test_the_operators_resource_has_the_same_rules(self):
        rules = RULES.read_text(encoding="utf-8")
        groups = rules[rules.index("groups:\n") :]
        resource = RESOURCE.read_text(encoding="utf-8")
        head, found, spec = resource.partition("\nspec:\n")
        self.assertTrue(found and "kind: PrometheusRule" in head)
        self.assertEqual(
            spec, textwrap.indent(groups, "  "), "run k8s/rules/write-prometheusrule"
        )

    def test_kustomize_makes_resources_of_them(self):
        """Of which the dashboard is one, with the label that Grafana's sidecar looks for."""
        done = subprocess.run(
            ["kubectl", "kustomize", ROOT / "k8s" / "monitoring"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=60, check=True,
        )  # fmt: skip
        kinds = re.findall(r"^kind: (\w+)$", done.stdout, re.MULTILINE)
        self.assertEqual(sorted(kinds), ["ConfigMap", "PodMonitor", "PodMonitor", "PrometheusRule"])
        self.assertIn('\n    grafana_dashboard: "1"\n', done.stdout)
        dashboard = textwrap.indent(Dashboard().text, "    ")
        self.assertIn(f"\n  ringside.json: |\n{dashboard}", done.stdout)
        # What `kubectl apply` notes down on an object has a limit.
        self.assertLess(len(dashboard.encode()), 256 * 1024)

    def test_promtool_takes_the_configurations(self):
        for name in SCRAPES:
            promtool("check", "config", configuration(name, self.folder, {}))


@unittest.skipIf(is_sanitized(), "what is tested is no code of ours but files")
class InPrometheus(WithFolder):
    def prometheus(self, name: str) -> Prometheus:
        one = Prometheus(self.folder, name, {})
        self.addCleanup(one.stop)
        return one

    def rules(self, kind: str) -> list[dict]:
        groups = self.prometheus("scrape.yaml").api("rules", type=kind)["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def test_every_alert_says_how_bad_it_is_and_what_to_do(self):
        panels = {panel["title"] for panel in Dashboard().panels()}
        tested = TESTS.read_text(encoding="utf-8")
        for alert in self.rules("alert"):
            with self.subTest(alert["name"]):
                said = alert["annotations"]
                self.assertIn(alert["labels"]["severity"], ("critical", "warning", "info"))
                self.assertGreaterEqual(alert["duration"], 60)
                self.assertIn("{{ $labels.job }}", said["summary"])
                self.assertGreater(len(said["description"]), 100)
                for name in re.findall('"([^"]+)"', said["description"]):
                    self.assertTrue(any(panel.startswith(name) for panel in panels), name)
                self.assertEqual(said["runbook"], "docs/kubernetes.md#troubleshooting")
                for expected in (r" \[\]", r"(?: &\w+)?\n +- exp_labels"):
                    self.assertRegex(
                        tested, rf"alertname: {alert['name']}\n +exp_alerts:{expected}"
                    )

    def test_the_page_has_each_alert_where_the_runbook_says(self):
        page = PAGE.read_text(encoding="utf-8")
        _, found, section = page.partition("\n## Troubleshooting\n")
        self.assertTrue(found, "alerts refer to this heading")
        for alert in self.rules("alert"):
            self.assertIn(f"`{alert['name']}`", section.partition("\n## ")[0])

    def test_every_metric_is_documented(self):
        for kind in ("alert", "record"):
            for rule in self.rules(kind):
                self.assertEqual(metrics_in(rule["query"]) - documented(), set(), rule["name"])

    def test_pods_are_found_with_their_labels(self):
        """By either configuration: each once, whatever ports it has, and no other pod."""
        pods, expected = [], set()
        for name, namespace, host, labels in (
            ("ringside-cache-0", "ringside", "127.0.0.1", CACHE),
            ("ringside-cache-1", "ringside", "[::1]", CACHE),
            ("shop-0", "shop", "127.0.0.2", SIDECAR),
        ):
            for port, number in (("http", 1), ("admin", 2)):
                pods.append(pod(name, namespace, f"{host}:{number}", port, "2", **labels))
            pods.append(pod(name, namespace, host, "", "2", **labels))  # a container without ports
            expected.add((name, namespace, f"http://{host}:2/metrics", "ringside"))
        done = pod("ringside-cache-2", "ringside", "127.0.0.3:2", "admin", "2", **CACHE)
        done["labels"]["__meta_kubernetes_pod_phase"] = "Failed"
        other = {"app_kubernetes_io_name": "else", "app_kubernetes_io_component": "cache"}
        pods += [done, pod("else", "ringside", "127.0.0.4:2", "admin", "2", **other)]
        for name in SCRAPES:
            with self.subTest(name):
                prometheus = self.prometheus(name)
                prometheus.set_pods(pods)
                wait_until(prometheus.targets, "the pods to be found")
                found = [
                    (at["pod"], at["namespace"], target["scrapeUrl"], at["job"])
                    for target in prometheus.targets()
                    for at in (target["labels"],)
                ]
                self.assertEqual(len(found), len(expected), json.dumps(found))
                self.assertEqual(set(found), expected)


if __name__ == "__main__":
    unittest.main()
