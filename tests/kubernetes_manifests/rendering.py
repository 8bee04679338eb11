"""The manifests as kubectl renders them, and what the schemas of Kubernetes say of them."""

import fcntl
import functools
import json
import os
import pathlib
import shutil
import subprocess

from old_kustomize import readable

ROOT = pathlib.Path(os.environ["RINGSIDE_ROOT"])
BUILD = pathlib.Path(os.environ["RINGSIDE_BUILD"])
HERE = ROOT / "tests" / "kubernetes_manifests"
KUBERNETES = ROOT / "k8s"
FOLDERS = tuple(
    file.parent.relative_to(KUBERNETES).as_posix()
    for file in [
        KUBERNETES / "base" / "kustomization.yaml",
        *sorted(KUBERNETES.glob("overlays/*/kustomization.yaml")),
    ]
)
INSTALL_TIMEOUT_S = 200
RUN_TIMEOUT_S = 60
NPM_REMEDY = (
    "The schemas are fetched by npm as tests/kubernetes_manifests/package-lock.json says. Look"
    " whether `npm ci` works there (npm on the PATH, a registry that can be reached) and run the"
    " test again."
)
KUBECTL_REMEDY = "`scripts/setup --test` installs kubectl (Debian's package kubernetes-client)."


@functools.cache
def installed() -> pathlib.Path:
    """Where the schemas are, in the build folder; fetched where the lock file has changed."""
    folder = BUILD / "kubernetes_manifests"
    folder.mkdir(exist_ok=True)
    with (folder / "guard").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)  # the tests of this folder may run at the same time
        install(folder)
    return folder


def install(folder: pathlib.Path) -> None:
    lock, stamp = HERE / "package-lock.json", folder / "installed"
    if stamp.exists() and stamp.read_bytes() == lock.read_bytes():
        return
    stamp.unlink(missing_ok=True)
    for file in (HERE / "package.json", lock):
        shutil.copy(file, folder)
    try:
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
            cwd=folder, check=True, timeout=INSTALL_TIMEOUT_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise AssertionError(f"{error}. {NPM_REMEDY}") from error
    shutil.copy(lock, stamp)


def judged(text: str) -> list[dict]:
    """For each YAML document `document` and, as a list of words, `mistakes`."""
    done = subprocess.run(
        ["node", HERE / "validate.mjs", installed()],
        input=text, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"validate.mjs ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def judged_values(documents: list[dict]) -> list[list[str]]:
    """The mistakes of each; JSON is YAML too."""
    results = judged("\n---\n".join(map(json.dumps, documents)))
    return [result["mistakes"] for result in results]


def kustomize(folder: str) -> str:
    if shutil.which("kubectl") is None:
        raise AssertionError(f"kubectl is not on the PATH. {KUBECTL_REMEDY}")
    with readable(KUBERNETES / folder) as path:
        done = subprocess.run(
            ["kubectl", "kustomize", path],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_TIMEOUT_S,
            check=False,
        )  # fmt: skip
    if done.returncode != 0 or done.stderr:  # of what is deprecated it warns there
        raise AssertionError(f"kubectl kustomize k8s/{folder}: {done.stderr}")
    return done.stdout


@functools.cache
def rendered(folder: str) -> list[dict]:
    """`document` and `mistakes` of all that `kubectl apply -k` would send. Not to be changed."""
    return judged(kustomize(folder))


def documents(folder: str) -> list[dict]:
    return [result["document"] for result in rendered(folder)]
