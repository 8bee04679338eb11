"""How bench/run reads what the system, wrk, perf and the servers say."""

import unittest

from bench import BY_NAME, some_round
from access_log import targets_of
from beside import share
from load import Told, body_of, is_wrong, told_by
from measure import calls_in, mistake, round_of
from processes import Usage, switches_in, used_between

WRK = {"requests": 10, "duration_us": 1_000_000, "bytes": 12_000, "p50_us": 1, "p99_us": 2,
       "p999_us": 3, "errors": {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0}}


class Usages(unittest.TestCase):
    def test_each_hop_has_what_its_processes_had_in_the_meantime(self) -> None:
        before = {1: ("front", Usage(1000, 1, 2, 3)), 2: ("caches", Usage(500, 5, 5, 5))}
        after = {1: ("front", Usage(4000, 3, 5, 7)), 2: ("caches", Usage(600, 5, 6, 6)),
                 3: ("caches", Usage(50, 1, 1, 1))}  # which is new
        self.assertEqual(used_between(before, after),
                         {"front": Usage(3000, 2, 3, 4), "caches": Usage(150, 1, 2, 2)})

    def test_user_and_system_time_are_shares_of_the_finer_clock(self) -> None:
        self.assertEqual(Usage(8_000_000, 1, 3, 0).user_us(), 2000)
        self.assertEqual(Usage(8_000_000, 0, 0, 0).user_us(), 0)

    def test_both_kinds_of_context_switches_count(self) -> None:
        status = "Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n"
        self.assertEqual(switches_in(status), 7)

    def test_a_round_has_its_figures_by_request_and_hop(self) -> None:
        hops = {"front": Usage(6_000_000, 1, 1, 30), "caches": Usage(4_000_000, 1, 1, 10)}
        done = round_of(Told(1000, 2e6, 1, 2, 3), hops, 11_000, 5, 0)
        self.assertEqual(done.requests_per_s, 500)
        self.assertEqual(done.cpu_us_per_request, 10)
        self.assertEqual((done.front_us_per_request, done.caches_us_per_request), (6, 4))
        self.assertEqual((done.user_us_per_request, done.system_us_per_request), (5, 5))
        self.assertEqual(done.switches_per_request, 0.04)
        self.assertEqual((done.cpu_share, done.others_share), (0.005, 0.0005))

    def test_where_nobody_asked_there_are_no_figures_by_request(self) -> None:
        done = round_of(Told(0, 1e6), {"caches": Usage(1_000_000, 0, 1, 1)}, 0, 5, 0)
        self.assertIsNone(done.cpu_us_per_request)
        self.assertEqual(done.cpu_share, 0.001)


class Answers(unittest.TestCase):
    def test_what_wrk_counts_as_errors_is_counted(self) -> None:
        told = told_by(WRK | {"errors": WRK["errors"] | {"status": 2, "timeout": 1}}, 1024)
        self.assertEqual(told.errors, 3)

    def test_answers_that_were_too_short_are_errors(self) -> None:
        self.assertEqual(told_by(WRK, 1024).errors, 0)
        self.assertEqual(told_by(WRK | {"bytes": 9000}, 1024).errors, 2)

    def test_an_answer_is_right_by_its_status_and_its_bytes(self) -> None:
        case = BY_NAME["range"]
        self.assertEqual(is_wrong(case, 206, body_of(1024)), "")
        self.assertEqual(is_wrong(case, 200, body_of(16384)),
                         "200 and 16384 bytes in place of 206 and 1024")
        self.assertNotEqual(is_wrong(case, 206, b"x" * 1024), "")

    def test_no_answer_at_all_is_a_mistake_where_somebody_asked(self) -> None:
        self.assertEqual(mistake(some_round(None, requests=0), -1), "no answer at all")
        self.assertEqual(mistake(some_round(None, requests=0), -1, asked=False), "")

    def test_a_hit_that_reached_the_origin_is_a_mistake(self) -> None:
        self.assertEqual(mistake(some_round(1), 0), "")
        self.assertIn("asked 5 times", mistake(some_round(1, origin_requests=5), 0))
        self.assertEqual(mistake(some_round(1, origin_requests=5), -1), "")
        self.assertIn("2 failed", mistake(some_round(1, errors=2), -1))


class Texts(unittest.TestCase):
    def test_perf_tells_its_count_or_that_it_has_none(self) -> None:
        self.assertEqual(calls_in("\n1234,,raw_syscalls:sys_enter,1,100.00,,\n"), 1234)
        self.assertIsNone(calls_in("<not counted>,,raw_syscalls:sys_enter,0,100.00,,\n"))
        self.assertIsNone(calls_in("no permission"))

    def test_of_a_log_the_targets_of_its_gets_are_asked_for(self) -> None:
        log = ('1.2.3.4 - - [x] "GET /a?b=c HTTP/1.1" 200 5 "-" "GET /no HTTP"\n'
               '1.2.3.4 - - [x] "POST /b HTTP/1.1" 200 5 "-" "-"\n'
               '1.2.3.4 - - [x] "GET http://elsewhere/ HTTP/1.1" 200 5 "-" "-"\n')
        self.assertEqual(targets_of(log), ["/a?b=c"])

    def test_percentiles_are_values_that_were_there(self) -> None:
        self.assertEqual(share([3.0, 1.0, 2.0], 0.5), 2.0)
        self.assertEqual(share([3.0, 1.0, 2.0], 0.999), 3.0)
        self.assertIsNone(share([], 0.5))


if __name__ == "__main__":
    unittest.main()
