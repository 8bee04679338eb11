"""Kustomizations for the Kustomize 2.0.3 of Debian 12's kubectl (1.20).

The manifests are in the words of today: folders stand among `resources`, files of patches below
`patches`. Kustomize has read these since kubectl 1.21, and warns of the words that 2.0.3 has for
them. So where the kubectl is that old, a copy of the manifests gets its words.
"""

import contextlib
import functools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREES = ("k8s", "tests/kubernetes/overlay")
FIRST_OF_TODAY = 21  # kubectl 1.21


@functools.cache
def kubectl_minor() -> int:
    command = ["kubectl", "version", "--client", "--output=json"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(re.match(r"\d+", json.loads(told)["clientVersion"]["minor"])[0])


def in_old_words(text: str) -> str:
    def resources(found: re.Match) -> str:
        return f"bases:\n{found[1]}" + (f"resources:\n{found[2]}" if found[2] else "")

    text = re.sub(r"^resources:\n((?:  - \.\..*\n)+)((?:  - .*\n)*)", resources, text, flags=re.M)
    patches = re.compile(r"^patches:\n((?:  - path: .*\n)+)", re.M)
    return patches.sub(lambda found: "patchesStrategicMerge:\n" + found[1].replace("path: ", ""), text)


@contextlib.contextmanager
def readable(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """The folder of a kustomization, or where the kubectl that is here can read the same."""
    if kubectl_minor() >= FIRST_OF_TODAY:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="ringside-kustomize-") as copy:
        for tree in TREES:
            shutil.copytree(ROOT / tree, pathlib.Path(copy, tree))
        for file in pathlib.Path(copy).rglob("kustomization.yaml"):
            file.write_text(in_old_words(file.read_text(encoding="utf-8")), encoding="utf-8")
        yield pathlib.Path(copy, folder.resolve().relative_to(ROOT))
