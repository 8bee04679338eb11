"""What the tests of the house share: made-up projects in a temporary folder."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("RINGSIDE_ROOT") or pathlib.Path(__file__).parents[2])


class ProjectTest(unittest.TestCase):
    """Gives each test an empty folder, self.folder, and the project's scripts to run on it."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, path: str, text: str, mode: int = 0o644) -> pathlib.Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return file

    def copy_script(self, name: str) -> pathlib.Path:
        (self.folder / "scripts").mkdir(exist_ok=True)
        return pathlib.Path(shutil.copy(ROOT / "scripts" / name, self.folder / "scripts" / name))

    def run_script(self, *command: object, **environment: str) -> subprocess.CompletedProcess:
        """Runs a command with `environment` added; what it printed is in .stdout, errors too."""
        return subprocess.run(
            [str(word) for word in command],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
