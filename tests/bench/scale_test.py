"""What bench/scale makes of what it has measured."""

import unittest

import bench  # noqa: F401
from growth import judged, powers
from scaled import Line, table


class Scale(unittest.TestCase):
    def test_sizes_grow_tenfold_up_to_the_most(self) -> None:
        self.assertEqual(powers(10, 1000), [10, 100, 1000])
        self.assertEqual(powers(10, 500), [10, 100, 500])
        self.assertEqual(powers(10, 3), [3])

    def test_what_grows_by_a_tenth_at_most_is_flat(self) -> None:
        self.assertTrue(judged("keys", "many", 10.9, 10.0).met)
        self.assertFalse(judged("keys", "many", 11.1, 10.0).met)

    def test_the_table_tells_what_is_missed(self) -> None:
        lines = [Line("idle", "a connection", 5000.0, "B", bar="< 4096 B", met=False),
                 judged("keys", "few", 10.0, 10.0)]
        rows = table(lines).splitlines()
        self.assertEqual(len(rows), 3)
        self.assertTrue(rows[1].endswith("MISSED"))
        self.assertIn("1.00", rows[2])


if __name__ == "__main__":
    unittest.main()
