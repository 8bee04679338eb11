"""The dashboard on a real Prometheus that scrapes a real tier: every query gives what it says.

The tier of the story goes from ten replicas to eleven under known traffic. Its pods are found with
the relabelings of k8s/monitoring/scrape.yaml. Beside it are a `ringside up`, whose series have no
namespace and both roles in one scrape, and a page with the families that a tier whose membership is
static does not have. Hit rates are compared with what the clients counted from Cache-Status,
exactly: over differences of the counters in place of rates.
"""

import math
import re
import time
import unittest

import prometheus
from grafana import Dashboard, Query, documented, exactly, metrics_in
from prometheus import CACHE, SIDECAR, Page, Prometheus, Series, pod
from ringside import ROOT, Tier, is_sanitized
from story import Story, Traffic, add

STATIC = "a tier whose membership is static asks no source for it"
WITHOUT_DATA = {
    ("Discovery", "A"): STATIC,
    ("Discovery", "B"): STATIC,
    ("Discovery failures", "A"): STATIC,
    ("Discovery failures", "B"): STATIC,
    ("Time since the source answered", "A"): STATIC,
}
DISCOVERY_PAGE = """\
ringside_build_info{version="0.1.0"} 1
ringside_discovery_up 1
ringside_discovery_last_answer_timestamp_seconds 1795301047
ringside_discovery_topologies_total 3
ringside_discovery_failures_total{reason="forbidden"} 1
ringside_discovery_failures_total{reason="unreachable"} 2
ringside_replicas_ready 11
"""


class TheFile(unittest.TestCase):
    def setUp(self):
        self.dashboard = Dashboard()

    def test_each_panel_says_what_it_shows_and_what_to_do(self):
        names = []
        for panel in self.dashboard.panels():
            with self.subTest(panel["title"]):
                names.append(panel["title"])
                if panel["type"] == "row":
                    continue
                self.assertGreater(len(panel["description"]), 80)
                self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                self.assertTrue(panel["fieldConfig"]["defaults"]["thresholds"]["steps"])
                for target in panel["targets"]:
                    self.assertTrue(target["legendFormat"])
                    self.assertEqual(target["datasource"]["uid"], "${datasource}")
        self.assertEqual(len(names), len(set(names)), "each title once: descriptions refer to them")
        for name in re.findall("“([^”]+)”", self.dashboard.text):
            self.assertIn(name, names)

    def test_ids_are_different(self):
        ids = [panel["id"] for panel in self.dashboard.panels()]
        self.assertEqual(len(ids), len(set(ids)))

    def test_panels_do_not_overlap(self):
        taken = {}
        for panel in self.dashboard.panels():
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            for x in range(at["x"], at["x"] + at["w"]):
                for y in range(at["y"], at["y"] + at["h"]):
                    self.assertIsNone(taken.get((x, y)), f"{panel['title']} lies on another")
                    taken[x, y] = panel["title"]

    def test_every_metric_is_documented(self):
        texts = [query.text for query in self.dashboard.queries()]
        texts += self.dashboard.annotations().values()
        texts += self.dashboard.variable_queries().values()
        named = set().union(*map(metrics_in, texts))
        self.assertGreater(len(named), 30)
        self.assertEqual(named - documented(), set())

    def test_windows_are_grafanas_own(self):
        for query in self.dashboard.queries():
            for window in re.findall(r"\[([^\]]+)\]", query.text):
                own = ("$__rate_interval", "$__rate_interval:", "$__range")  # with a colon: a subquery
                self.assertIn(window, own, query.name)

    def test_hits_are_what_the_documentation_calls_hits(self):
        page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+)` \|.*\| (hit|miss|not counted) \|$", page, re.MULTILINE)
        hits = {name for name, meaning in rows if meaning == "hit"}
        uncounted = {name for name, meaning in rows if meaning == "not counted"}
        self.assertEqual(len(rows), 8)
        for query in self.dashboard.queries():
            for operator, names in re.findall(r'result(=~|!~)"([^"]*)"', query.text):
                expected = hits if operator == "=~" else uncounted
                self.assertEqual(set(names.split("|")), expected, query.name)
                self.assertIn('role="sidecar"', query.text)


@unittest.skipIf(is_sanitized(), "what is tested is no code of ours but a file")
class TheStory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scene = Tier()
        scene.setUp()
        cls.addClassCleanup(scene.doCleanups)
        cls.dashboard = Dashboard()
        cls.story = Story(scene)
        other_origin = scene.origin()
        cls.up = scene.up(3, other_origin, "--threads", 1)
        page = Page(DISCOVERY_PAGE)
        scene.addCleanup(page.stop)
        cls.started = time.time()
        cls.prometheus = Prometheus(
            scene.folder, "scrape.yaml", {"up": cls.up.admin, "discovery": page.address}
        )
        scene.addCleanup(cls.prometheus.stop)
        other = Traffic(cls.up, other_origin)

        # Each time is one of a scrape after what came before it.
        cls.began = cls.scrape()
        before, cls.counts_up = cls.story.traffic.send(700), other.send(100)
        cls.before = cls.scrape()
        cls.story.start_another()
        cls.scrape()
        cls.story.grow()
        after = cls.story.traffic.send(700, large=150)
        cls.after = cls.scrape()
        both = add(before, after)
        cls.counts = {
            (cls.began, cls.before): before,
            (cls.before, cls.after): after,
            (cls.began, cls.after): both,
        }

    @classmethod
    def scrape(cls) -> float:
        front, caches = cls.story.front, cls.story.caches
        pods = [pod("shop-0", "shop", front.admin, **SIDECAR)]
        pods += [pod(cache.name, "ringside", cache.admin, **CACHE) for cache in caches]
        # Other ports and other pods, which are not to be scraped: nothing listens there.
        pods += [pod(cache.name, "ringside", cache.address, "http", **CACHE) for cache in caches]
        pods.append(pod("else", "shop", "127.0.0.1:1", app_kubernetes_io_name="else"))
        cls.prometheus.set_pods(pods)
        return cls.prometheus.scraped(len(caches) + 3)

    def expanded(self, query: Query | str, **chosen: list[str]) -> str:
        text = query if isinstance(query, str) else query.text
        return self.dashboard.expand(text, **chosen)

    def query(self, panel: str, ref: str = "A") -> str:
        return next(q.text for q in self.dashboard.queries() if q.name == (panel, ref))

    def results(self, query: Query, **chosen: list[str]) -> list[Series]:
        text = self.expanded(query, **chosen)
        if query.is_instant:
            return self.prometheus.instant(text, self.after)
        return self.prometheus.over(text, self.began, self.after)

    def check_queries(self, without: set[tuple[str, str]], **chosen: list[str]) -> None:
        empty = set()
        for query in self.dashboard.queries():
            with self.subTest(query.name):
                results = self.results(query, **chosen)
                if not results:
                    empty.add(query.name)
                for series in results:
                    for _, value in series.points:
                        self.assertTrue(math.isfinite(value), f"{value} in {query.text}")
                    for label in re.findall(r"{{(\w+)}}", query.legend):
                        self.assertIn(label, series.labels)
                legends = [
                    re.sub(r"{{(\w+)}}", lambda label: series.labels[label[1]], query.legend)
                    for series in results
                ]
                self.assertEqual(sorted(set(legends)), sorted(legends), "two with one name")
        self.assertEqual(empty, without)

    def test_every_panel_has_data(self):
        self.check_queries(set(WITHOUT_DATA), job=["ringside"])
        self.check_queries(set(), job=["ringside", "discovery"])
        self.check_queries(set())

    def test_panels_that_are_empty_for_a_static_tier_are_not_where_it_asks_a_source(self):
        found = {q.name for q in self.dashboard.queries() if self.results(q, job=["discovery"])}
        self.assertLessEqual(set(WITHOUT_DATA), found)

    def differences(self, text: str, since: float, until: float, label: str = "", **chosen):
        """What the query makes of the counters' growth: {value of the label: value}."""
        exact = exactly(self.expanded(text, **chosen), since, until)
        series = self.prometheus.instant(exact, self.after)
        return {one.labels.get(label, ""): one.last for one in series}

    def check(self, expected: dict[str, float], found: dict[str, float]) -> None:
        self.assertEqual(set(found), set(expected))
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, 12, name)

    def test_the_clients_count_the_same(self):
        for (since, until), counts in self.counts.items():
            replicas = counts.by("replica")
            for (panel, ref), label, expected in (
                (("Hit rate, requests", "A"), "", {"": counts.hit_rate()}),
                (("Hit rate, bytes", "A"), "", {"": counts.hit_rate_of_bytes()}),
                (("Hit rate", "A"), "", {"": counts.hit_rate()}),
                (("Hit rate", "B"), "", {"": counts.hit_rate_of_bytes()}),
                (("Origin fetches", "A"), "", {"": counts.fetches}),
                (("Requests and origin fetches", "A"), "", {"": counts.requests}),
                (("Requests and origin fetches", "B"), "", {"": counts.fetches}),
                (("Hit rate of each replica", "A"), "shard", counts.hit_rates_by("replica")),
                (("Requests to each replica", "A"), "shard", replicas),
                (("Requests by country", "A"), "country", counts.by("country")),
                (("Hit rate by country", "A"), "country", counts.hit_rates_by("country")),
            ):
                with self.subTest(panel, ref=ref):
                    text = self.query(panel, ref)
                    found = self.differences(text, since, until, label, job=["ringside"])
                    if panel == "Requests to each replica":
                        found = {name: value for name, value in found.items() if value}
                    self.check(expected, found)

    def test_both_roles_in_one_scrape_and_no_namespace(self):
        for namespace in ([], ["$__all"]):
            chosen = {"namespace": namespace} if namespace else {}
            found = self.differences(
                self.query("Hit rate"), self.began, self.before, job=["up"], **chosen
            )
            self.check({"": self.counts_up.hit_rate()}, found)
        everything = add(self.counts_up, self.counts[self.began, self.before])
        found = self.differences(self.query("Hit rate"), self.began, self.before)
        self.check({"": everything.hit_rate()}, found)

    def test_the_traffic_is_of_every_kind(self):
        """So that equality means something."""
        for counts in self.counts.values():
            self.assertGreater(len(counts.by("replica")), 9)
            self.assertEqual(len(counts.by("country")), 4)
            self.assertGreater(counts.by("kind")["uncounted"], 5)
            self.assertNotAlmostEqual(counts.hit_rate(), counts.hit_rate_of_bytes(), 3)
            self.assertTrue(0.2 < counts.hit_rate() < 0.95, counts.hit_rate())
        results = self.prometheus.instant(
            'sum by (result) (ringside_requests_total{job="ringside",role="sidecar"}) > 0',
            self.after,
        )
        self.assertLessEqual(
            {"hit", "miss", "revalidated", "bypass", "error"},
            {series.labels["result"] for series in results},
        )
        evicted = self.prometheus.instant("sum(ringside_store_evictions_total)", self.after)
        self.assertGreater(evicted[0].last, 0)

    def test_a_chosen_namespace_or_replica_is_the_only_one(self):
        text = self.query("Requests to each replica")
        chosen = {"replica": ["cache-1", "cache-10"], "job": ["ringside"], "namespace": ["shop"]}
        found = self.differences(text, self.began, self.after, "shard", **chosen)
        everyone = self.counts[self.began, self.after].by("replica")
        self.check({name: everyone[name] for name in ("cache-1", "cache-10")}, found)
        none = self.differences(text, self.began, self.after, "shard", namespace=["ringside"])
        self.assertEqual(none, {}, "sidecars are in the namespace of their application")

    def test_ten_become_eleven(self):
        for panel, ref, values in (
            ("Replicas and topology", "A", [10, 11]),
            ("Replicas and topology", "C", [2, 3]),
        ):
            text = self.expanded(self.query(panel, ref), job=["ringside"])
            (series,) = self.prometheus.over(text, self.began, self.after)
            seen = [value for _, value in series.points]
            self.assertEqual(sorted(set(seen)), values)
            self.assertEqual(seen, sorted(seen))
        text = self.expanded(self.query("Topology ids"), job=["ringside"])
        (ids,) = self.prometheus.instant(text, self.after)
        self.assertEqual(ids.last, 1, "all agree in the end")

    def test_a_topology_is_an_event(self):
        text = self.expanded(self.dashboard.annotations()["New topologies"], job=["ringside"])
        events = self.prometheus.over(text, self.started, self.after)
        self.assertEqual([event.labels["replicas"] for event in events], ["10", "11"])
        self.assertEqual(len({event.labels["id"] for event in events}), 2)
        for event in events:
            self.assertEqual({value for _, value in event.points}, {1}, "Grafana looks for ones")
        text = self.expanded(self.dashboard.annotations()["Alerts"])
        self.assertEqual(self.prometheus.over(text, self.began, self.after), [])

    def test_variables_offer_what_there_is(self):
        offered = {
            name: self.prometheus.label_values(self.expanded(query))
            for name, query in self.dashboard.variable_queries().items()
        }
        self.assertEqual(offered["namespace"], ["ringside", "shop"])
        self.assertEqual(offered["job"], ["discovery", "ringside", "up"])
        self.assertEqual(set(offered["replica"]), {f"cache-{n}" for n in range(11)})

    def test_processes_are_named_by_their_pods_or_else_by_their_address(self):
        results = self.prometheus.instant(self.expanded(self.query("Memory")), self.after)
        names = {series.labels["process"] for series in results}
        caches = {f"cache-{n}" for n in range(11)}
        self.assertEqual(names, caches | {"shop-0", self.up.admin})

    def test_recording_rules_say_the_same(self):
        rules = {
            rule["name"]: rule["query"]
            for group in self.prometheus.api("rules", type="record")["groups"]
            for rule in group["rules"]
            if not rule["name"].endswith(":usual")
        }
        for (since, until), counts in self.counts.items():
            for name, expected in (
                ("hit_ratio", counts.hit_rate()),
                ("hit_bytes_ratio", counts.hit_rate_of_bytes()),
                ("requests", counts.requests),
                ("origin_requests", counts.fetches),
            ):
                with self.subTest(name):
                    query = exactly(rules[f"namespace_job:ringside_{name}:rate5m"], since, until)
                    found = {
                        series.labels["namespace"]: series.last
                        for series in self.prometheus.instant(query, until)
                        if series.labels["job"] == "ringside" and series.last
                    }
                    namespace = "ringside" if name == "origin_requests" else "shop"
                    self.check({namespace: expected}, found)

        def recorded() -> set[str]:
            return {name for name in rules if self.prometheus.instant(f'{name}{{job="ringside"}}')}

        prometheus.wait_until(lambda: recorded() == set(rules), "every rule to be recorded")


if __name__ == "__main__":
    unittest.main()
