"""The program takes what the manifests give it: arguments, and the ConfigMap as its file."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from documents import Pod, arguments, first, of_kind, one, pods
from rendering import FOLDERS, RUN_TIMEOUT_S, documents

PROGRAM = os.environ["RINGSIDE"]
REPLICA = "ringside-cache-0"
# In the place of what a pod finds in its own file system. Nobody is asked: --validate only reads
# it.
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "test",
    "contexts": [
        {"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "ringside"}}
    ],
    "clusters": [{"name": "test", "cluster": {"server": "http://127.0.0.1:1"}}],
    "users": [{"name": "test", "user": {"token": "none"}}],
}


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(KUBECONFIG))
        # In the place of the Secrets'.
        self.secrets = {}
        for option in ("peer-key-file", "admin-token-file"):
            self.secrets[option] = self.folder / option
            self.secrets[option].write_text("0123456789abcdef" * 4 + "\n")

    def command(self, folder: str, pod: Pod, container: dict) -> list[str]:
        """As the kubelet would start it, but with files that are here."""
        name = first(pod.spec, "volumes[].configMap.name")
        given = arguments(container)
        key = pathlib.PurePath(given["config"]).name
        file = self.folder / key
        file.write_text(one(documents(folder), "ConfigMap", name)["data"][key])
        command = [
            argument.replace("$(POD_NAME)", REPLICA).replace(given["config"], str(file))
            for argument in container["args"]
        ]
        for option, here in self.secrets.items():
            if option in given:
                command = [argument.replace(given[option], str(here)) for argument in command]
        if "kubernetes" in given:
            command.append(f"--kubeconfig={self.kubeconfig}")
        # The database is in the image; a build may be without.
        optional = ["--geo-optional"] if given["command"] != "cache" else []
        return [PROGRAM, *command, *optional, "--validate"]

    def validate(self, command: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_TIMEOUT_S,
            check=False,
        )  # fmt: skip

    def test_arguments_and_configuration_are_taken(self):
        for folder in FOLDERS:
            for pod in pods(documents(folder)):
                for container in pod.ringside:
                    with self.subTest(folder, pod=pod.name):
                        done = self.validate(self.command(folder, pod, container))
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertIn("the configuration is valid", done.stdout)

    def test_others_are_not(self):
        (cache,) = of_kind(documents("base"), "StatefulSet")
        pod = Pod(cache)
        command = self.command("base", pod, pod.ringside[0])
        for change, expected in (
            (lambda words: [*words, "--drain-delays=5s"], "drain-delays"),
            (lambda words: [w for w in words if not w.startswith("--name")], "name"),
            (lambda words: [w.replace("memory=75%", "memory=175%") for w in words], "memory"),
        ):
            with self.subTest(expected):
                done = self.validate(change(command))
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
