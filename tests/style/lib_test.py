"""scripts/lib.sh: nothing that a script started outlives it, and failures are not swallowed."""

import os
import signal
import subprocess
import unittest

from project import ProjectTest

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SCRIPT = """#!/usr/bin/env bash
source "$(dirname "$0")/lib.sh"
"""


def heed_signals() -> None:
    """In the child: undoes a nohup or a background start, which would leave them ignored."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


class Lib(ProjectTest):
    def setUp(self) -> None:
        super().setUp()
        self.copy_script("lib.sh")

    def script(self, body: str) -> str:
        return str(self.write("scripts/tool", SCRIPT + body, 0o755))

    def test_a_signal_ends_the_script_and_all_it_started(self) -> None:
        # The grandchild holds the write end of our pipe: its end is seen without any waiting.
        stubborn = "bash -c 'trap \"\" INT; sleep 1000 & echo started; wait'"
        tool = self.script(f"at_exit echo left\nstep 'long work' run {stubborn}\n")
        for number in SIGNALS:
            with self.subTest(number), subprocess.Popen(
                [tool],
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
                preexec_fn=heed_signals,
            ) as process:
                self.assertEqual(process.stdout.readline(), "== long work\n")
                self.assertEqual(process.stdout.readline(), "started\n")
                os.kill(process.pid, number)
                self.assertEqual(process.stdout.read(), "left\n")  # to the end of the pipe
                self.assertEqual(process.wait(), 128 + number)

    def test_a_signal_right_after_the_start_ends_what_was_started(self) -> None:
        # The first command after the start finds a job, and the signal there.
        at_once = "set -T\ntrap 'if [[ -n $(jobs -p) ]]; then kill -TERM $$; fi' DEBUG\n"
        done = self.run_script(self.script(at_once + "run sleep 1000\n"))
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)

    def test_the_exit_code_of_a_step_is_its_commands(self) -> None:
        done = self.run_script(self.script("step 'failing' run bash -c 'exit 7'\necho not reached\n"))
        self.assertEqual(done.returncode, 7)
        self.assertIn("failing: FAILED after", done.stdout)
        self.assertNotIn("not reached", done.stdout)

    def test_retry_gives_up_after_its_times(self) -> None:
        counting = "count() { echo again; return 1; }\n"
        tool = self.script(counting + "retry 3 count || exit 9\n")
        done = self.run_script(tool, RINGSIDE_RETRY_PAUSE="0")
        self.assertEqual(done.returncode, 9)
        self.assertEqual(done.stdout.count("again\n"), 3)


if __name__ == "__main__":
    unittest.main()
