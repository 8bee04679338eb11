"""The command line of bench/run, and which cases it means."""

import contextlib
import io
import unittest

from bench import BY_NAME
from cases import CASES, fitted
from load import Traffic, command_of
from machine import key_of
from options import options
from servers import STARTS


class Options(unittest.TestCase):
    def refused(self, *arguments: str) -> str:
        said = io.StringIO()
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(said):
            options("", list(arguments))
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue()

    def names(self, *arguments: str) -> list[str]:
        return [case.name for case in options("", list(arguments)).cases]

    def test_without_words_a_few_cases_are_measured(self) -> None:
        self.assertEqual(self.names(), ["hit-1k", "hit-16k", "side-1k", "side-16k", "near-1k"])

    def test_chosen_cases_come_in_the_order_of_the_table(self) -> None:
        self.assertEqual(self.names("--cases", "side-1k,304"), ["304", "side-1k"])

    def test_all_is_every_case_and_the_log_where_there_is_one(self) -> None:
        self.assertEqual(len(self.names("--all")), len(CASES) - 1)
        self.assertEqual(len(self.names("--all", "--log", "some.log")), len(CASES))

    def test_an_unknown_case_or_server_is_refused_by_its_name(self) -> None:
        self.assertIn("no case hit-1g;", self.refused("--cases", "hit-1g"))
        self.assertIn("no squid;", self.refused("--servers", "squid"))

    def test_what_makes_no_sense_is_refused(self) -> None:
        self.assertIn("needs --log", self.refused("--cases", "log"))
        self.assertIn("--hold needs one case", self.refused("--hold"))
        self.assertIn("not allowed with", self.refused("--all", "--cases", "304"))
        self.assertIn(".svg", self.refused("--plot", "some.jpg"))
        self.assertIn("at least 1", self.refused("--rounds", "0"))

    def test_a_ringside_to_compare_with_is_one_more_server(self) -> None:
        self.assertEqual(options("", ["--servers", "ringside", "--compare", "old"]).servers,
                         ["ringside", "other"])

    def test_a_quick_run_is_one_round_of_a_second(self) -> None:
        chosen = options("", ["--quick", "--rounds", "9", "--paths", "50"])
        self.assertEqual((chosen.rounds, chosen.seconds, chosen.paths), (1, 1, 50))


class Cases(unittest.TestCase):
    def test_each_server_of_each_case_can_be_started(self) -> None:
        for case in CASES:
            for server in case.servers():
                key = key_of(server, case)
                self.assertIn((key.server, key.shape), STARTS, case.name)

    def test_all_different_bodies_fit_into_a_cache(self) -> None:
        self.assertEqual(BY_NAME["hit-1m"].path_count(10_000), 256)
        self.assertEqual(BY_NAME["hit-1k"].path_count(10_000), 10_000)
        self.assertEqual(BY_NAME["million"].path_count(1_000_000), 1_000_000)
        self.assertEqual(BY_NAME["near-1k"].path_count(10_000), 1000)

    def test_a_front_has_no_more_clients_than_half_its_descriptors(self) -> None:
        case = BY_NAME["side-1k-10000c"]
        self.assertIs(fitted(case, 65_536), case)
        self.assertEqual(fitted(case, 20_000).connections, 9500)
        self.assertIn("9,500 of them", fitted(case, 20_000).text)

    def test_the_floor_gives_what_the_case_is_about(self) -> None:
        canned = {name: key_of("floor", BY_NAME[name]).canned
                  for name in ("304", "range", "hit-close", "hit-pipelined", "miss")}
        self.assertEqual(canned, {
            "304": ("0", "304", "keep"), "range": ("1024", "206", "keep"),
            "hit-close": ("1024", "200", "close"), "hit-pipelined": ("1024", "200", "count"),
            "miss": ("origin",)})

    def test_beside_a_near_cache_stand_two_hops_and_the_floor_of_one(self) -> None:
        shapes = {server: key_of(server, BY_NAME["near-1k"]).shape
                  for server in BY_NAME["near-1k"].servers()}
        self.assertEqual(shapes, {"floor": "one", "nginx": "two", "haproxy": "two",
                                  "ringside": "near", "other": "near"})

    def test_the_load_is_what_the_case_says(self) -> None:
        traffic = Traffic("wrk", "paced", 10, 3)
        words = command_of(BY_NAME["hit-pipelined"], 80, traffic, "draw", "7", 3,
                           ["A: b"])
        self.assertEqual(words[words.index("--connections") + 1], "64")
        self.assertEqual(words[words.index("--header") + 1], "A: b")
        self.assertEqual(words[words.index("--") + 1:],
                         ["draw", "1024", "10", "11", "7", "0.0", "16", ""])


if __name__ == "__main__":
    unittest.main()
