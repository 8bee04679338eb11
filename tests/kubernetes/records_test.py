"""What is concluded from records. Needs no cluster: python3 -B -m unittest records_test"""

import pathlib
import tempfile
import unittest

from support.records import (
    Record,
    between,
    failures,
    fetched_again,
    head_start,
    hit_rate,
    last_of_leaver,
    most_in_flight,
    moved,
    owners,
    percentile,
    read_records,
)


def record(start: float = 0, end: float = 1, owner: str = "cache-1", **but) -> Record:
    said = {"cache_status": f"{owner}; hit; ttl=9", "trouble": ""} | but
    return Record(start, end, "front", "/a", "DE", **({"status": 200} | said))


class Records(unittest.TestCase):
    def test_a_line_that_is_still_being_written_is_left_alone(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("1\t2\tf\t/a\tDE\t200\tcache-1; hit\t\n3\t4\tf\t/b\tDE\t20")
            file.flush()
            records = read_records(pathlib.Path(file.name))
        self.assertEqual([one.key for one in records], [("/a", "DE")])
        self.assertEqual((records[0].owner, records[0].is_hit), ("cache-1", True))

    def test_a_failure_is_another_status_or_a_trouble(self):
        bad = [record(status=503), record(status=0), record(trouble="the body is not of /a")]
        self.assertEqual(failures([record(), *bad]), bad)

    def test_a_hit_is_said_by_the_cache_next_to_the_origin(self):
        miss = record(cache_status="cache-1; fwd=uri-miss; stored, near; hit")
        self.assertEqual((hit_rate([record(), miss]), hit_rate([])), (50, 0))
        filled = record(cache_status="cache-1; fwd=uri-miss; detail=peer-fill")
        self.assertTrue(filled.is_hit)

    def test_keys_that_changed_their_owner(self):
        before, after = owners([record()]), owners([record(owner="cache-2")])
        self.assertEqual(moved(before, after), {("cache-1", "cache-2"): 1})
        self.assertEqual(moved(before, before), {})
        self.assertEqual(owners([record(status=503)]), {})

    def test_what_is_fetched_again(self):
        before, after = [("/a", "DE"), ("/b", "DE")], [("/c", "DE"), ("/b", "DE"), ("/c", "DE")]
        self.assertEqual(fetched_again(before, after), [("/b", "DE"), ("/c", "DE")])

    def test_what_the_next_pod_of_a_name_answers_is_not_the_last_ones(self):
        """A request to the new pod that was begun before we had heard that it was ready was taken
        for one to the old pod, 15.6 s after that was to get none."""
        begun = [record(at, at + 0.5) for at in (1, 9.5, 10.1, 25.6)] + [record(12, 13, "other")]
        self.assertEqual(last_of_leaver(begun, "cache-1", left=10, next_there=16), 10.1)
        self.assertEqual(last_of_leaver(begun, "cache-1", left=11, next_there=16), 11)
        self.assertEqual(last_of_leaver(begun, "cache-1", left=10, next_there=30), 25.6)
        self.assertEqual(last_of_leaver([], "cache-1", left=10, next_there=16), 10)

    def test_who_is_asked_before_it_is_ready_has_a_head_start(self):
        begun = [record(at, at + 0.5) for at in (9, 25.5, 25.6, 27)]
        self.assertEqual(head_start(begun, "cache-1", there=16, ready=26.5), 0.5)
        self.assertEqual(head_start(begun, "cache-1", there=16, ready=26), 0)
        self.assertEqual(head_start(begun, "other", there=16, ready=26), 0)

    def test_times(self):
        records = [record(0, 3), record(1, 2), record(2, 5), record(9, 10)]
        self.assertEqual(most_in_flight(records), 2)
        self.assertEqual(len(between(records, 1, 9)), 2)
        self.assertEqual([percentile([3, 1, 2, 4], percent) for percent in (50, 99)], [2, 4])


if __name__ == "__main__":
    unittest.main()
