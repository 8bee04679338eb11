#!/usr/bin/env python3
"""tests/kubernetes/run.py [--only REGEX] IMAGE

Runs the scenarios whose names match against the image, in the network of a cluster that is up, and
prints what was measured; figures go into kubernetes.json too, verdicts into kubernetes.xml.
`scripts/test --kubernetes` does all of it. Standard library only.
"""

import argparse
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as xml
from collections.abc import Iterator

from support.figures import figures
from support.tier import Scenario, cluster

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE.parent.parent / "build" / "test-results"


def cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from cases(one)
        else:
            yield one


# Overlays before there are ten replicas. Scale while everything is stored. The outage last: this cluster's controllers take minutes to get
# over it; pods that end are then told of when they are gone, and others would measure that.
ORDER = ("overlays_test", "records_test", "rights_test", "scale_test", "restart_test", "outage_test")


def write_report(path: pathlib.Path, chosen: list, result: unittest.TestResult) -> None:
    """As ctest writes them, for scripts/tally."""
    path.parent.mkdir(parents=True, exist_ok=True)
    failed = {one.id() for one, _ in result.errors + result.failures}
    suite = xml.Element("testsuite", name="kubernetes")
    for one in chosen:
        status = "fail" if one.id() in failed else "run"
        xml.SubElement(suite, "testcase", name=one.id(), status=status)
    xml.ElementTree(suite).write(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help="a folder")
    parser.add_argument("image", type=pathlib.Path)
    arguments = parser.parse_args()
    found = unittest.defaultTestLoader.discover(str(HERE), "*_test.py", str(HERE))
    chosen = [one for one in cases(found) if re.search(arguments.only, one.id())]
    chosen.sort(key=lambda one: ORDER.index(one.id().partition(".")[0]))
    if not chosen:
        sys.exit(f"run.py: no scenario matches {arguments.only!r}")
    cluster("load", arguments.image.resolve())
    try:
        result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(chosen))
        write_report(arguments.results / "kubernetes.xml", chosen, result)
    finally:
        if Scenario.deployment is not None:
            Scenario.deployment.close()
        print(figures.table(), flush=True)
        figures.write(arguments.results / "kubernetes.json")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
