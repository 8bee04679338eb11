"""Medians, ratios, the table and the JSON of bench/run, from made-up rounds."""

import json
import unittest

from bench import BY_NAME, some_round, some_row
from plot import fields_of
from report import Row, as_json, best_peer, ratios, summary, table


class Report(unittest.TestCase):
    def setUp(self) -> None:
        self.rows = [some_row("floor", 4, 4, 4), some_row("nginx", 10, 8, 12),
                     some_row("varnish", 16, 16, 16), some_row("other", 6, 6, 6),
                     some_row("ringside", 5, 90, 4)]

    def test_the_median_of_the_rounds_counts(self) -> None:
        self.assertEqual(self.rows[1].median("cpu_us_per_request"), 10)
        self.assertEqual(self.rows[4].median("cpu_us_per_request"), 5)

    def test_the_spread_is_from_the_best_round_to_the_worst_by_the_median(self) -> None:
        self.assertEqual(self.rows[1].spread("cpu_us_per_request"), 0.4)

    def test_a_figure_that_no_round_has_is_none_and_a_dash(self) -> None:
        self.assertIsNone(self.rows[0].median("front_us_per_request"))
        self.assertIn(" - ", table(self.rows))

    def test_ratios_are_to_the_floor_to_the_cheapest_peer_and_to_the_other_ringside(self) -> None:
        self.assertEqual(ratios(self.rows, self.rows[4]),
                         {"floor": 1.25, "best_peer": 0.5, "other": 5 / 6})

    def test_the_floor_and_ringside_are_no_peers(self) -> None:
        self.assertIs(best_peer(self.rows, BY_NAME["hit-1k"]), self.rows[1])
        self.assertIsNone(best_peer([self.rows[0], self.rows[4]], BY_NAME["hit-1k"]))

    def test_rows_of_other_cases_are_not_compared(self) -> None:
        alone = some_row("ringside", 5, case="side-1k")
        self.assertEqual(ratios([*self.rows, alone], alone),
                         {"floor": None, "best_peer": None, "other": None})

    def test_where_nobody_asks_the_share_of_the_core_is_compared(self) -> None:
        rows = [Row(BY_NAME["idle"], server, [some_round(None, requests=0, cpu_share=share)])
                for server, share in (("nginx", 0.002), ("ringside", 0.001))]
        self.assertEqual(ratios(rows, rows[1])["best_peer"], 0.5)

    def test_a_row_without_a_round_is_shown_with_what_went_wrong(self) -> None:
        failed = Row(BY_NAME["hit-1k"], "varnish", mistakes=["wrk failed"])
        text = table([*self.rows, failed])
        self.assertIn("! wrk failed", text)
        self.assertEqual(ratios([*self.rows, failed], failed)["floor"], None)

    def test_the_table_has_a_heading_for_each_case_and_a_line_for_each_server(self) -> None:
        text = table([*self.rows, some_row("ringside", 5, case="side-1k")])
        self.assertEqual(text.count("CPU us"), 2)
        self.assertIn("hit-1k: hit at a replica, 1 KiB\n", text)
        for server in ("floor", "nginx", "varnish", "other", "ringside"):
            self.assertRegex(text, rf"(?m)^{server} ")

    def test_the_summary_has_a_line_for_each_case_of_ringside(self) -> None:
        self.assertEqual(summary(self.rows).splitlines()[1:],
                         ["hit-1k              1.25    0.50 nginx        0.83"])

    def test_failed_answers_are_counted_and_shown(self) -> None:
        row = Row(BY_NAME["hit-1k"], "nginx", [some_round(9, errors=2), some_round(9, errors=1)])
        self.assertEqual(as_json([row], {})["rows"][0]["errors"], 3)
        self.assertRegex(table([row]), r"(?m)^nginx .* 3 ")

    def test_the_json_has_every_round_and_can_be_written(self) -> None:
        made = json.loads(json.dumps(as_json(self.rows, {"cpu": "some"})))
        self.assertEqual(made["about"], {"cpu": "some"})
        ringside = made["rows"][4]
        self.assertEqual([each["cpu_us_per_request"] for each in ringside["rounds"]], [5, 90, 4])
        self.assertEqual(ringside["median"]["cpu_us_per_request"], 5)
        self.assertEqual(ringside["ratio_of_cost"]["best_peer"], 0.5)

    def test_the_plot_has_a_field_for_each_case_and_a_bar_for_each_server(self) -> None:
        fields = fields_of([*self.rows, some_row("ringside", 5, case="side-1k")])
        self.assertEqual([title for title, _ in fields],
                         ["hit-1k: CPU us per request", "side-1k: CPU us per request"])
        self.assertEqual(fields[0][1][4], ("ringside", 1.0, 2.0))


if __name__ == "__main__":
    unittest.main()
