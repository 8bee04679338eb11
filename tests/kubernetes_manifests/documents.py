"""Looking things up in rendered documents."""

import dataclasses
import re
from collections.abc import Iterator

NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
PART_OF = "app.kubernetes.io/part-of"
SIDECAR = "ringside-sidecar"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


@dataclasses.dataclass(frozen=True)
class Pod:
    """What a Deployment or StatefulSet makes pods of."""

    workload: dict

    @property
    def name(self) -> str:
        return title(self.workload)

    @property
    def template(self) -> dict:
        return self.workload["spec"]["template"]

    @property
    def labels(self) -> dict:
        return self.template["metadata"]["labels"]

    @property
    def spec(self) -> dict:
        return self.template["spec"]

    @property
    def containers(self) -> list[dict]:
        kinds = ("initContainers", "containers", "ephemeralContainers")
        return [container for kind in kinds for container in self.spec.get(kind, [])]

    @property
    def ringside(self) -> list[dict]:
        return [container for container in self.containers if container["name"] == "ringside"]

    @property
    def ports(self) -> list[dict]:
        return [port for container in self.containers for port in container.get("ports", [])]


def title(document: dict) -> str:
    return f"{document['kind']} {document['metadata']['name']}"


def of_kind(documents: list[dict], *kinds: str) -> list[dict]:
    return [document for document in documents if document["kind"] in kinds]


def one(documents: list[dict], kind: str, name: str) -> dict | None:
    found = [d for d in of_kind(documents, kind) if d["metadata"]["name"] == name]
    return found[0] if found else None


def pods(documents: list[dict]) -> list[Pod]:
    return [Pod(document) for document in of_kind(documents, "Deployment", "StatefulSet")]


def selected(documents: list[dict], labels: dict) -> list[Pod]:
    """The pods that have all these labels."""
    return [pod for pod in pods(documents) if labels.items() <= pod.labels.items()]


def found(value: object, path: str) -> Iterator[object]:
    """What is at a path such as `ports[].hostPort`; None where a field is absent."""
    name, _, rest = path.partition(".")
    inner = value.get(name.removesuffix("[]")) if isinstance(value, dict) else None
    for item in (inner or []) if name.endswith("[]") else [inner]:
        if rest:
            yield from found(item, rest)
        else:
            yield item


def first(value: object, path: str) -> object:
    return next(found(value, path), None)


def arguments(container: dict) -> dict[str, str]:
    """`--drain-delay=5s` as {"drain-delay": "5s"}; the command itself is under "command"."""
    command, *options = container["args"]
    pairs = (option.removeprefix("--").partition("=") for option in options)
    return {"command": command} | {name: value for name, _, value in pairs}


def duration_ms(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)", text).groups()
    return int(number) * MS[unit]


def requested(documents: list[dict]) -> dict[str, float]:
    """Of all pods together: cores, and GiB."""
    units = {"cpu": {"m": 1e-3}, "memory": {"Mi": 1 / 1024, "Gi": 1}}
    total = dict.fromkeys(units, 0.0)
    for pod in pods(documents):
        for container in pod.containers:
            for name, unit in units.items():
                number, letters = re.fullmatch(
                    r"(\d+)(\w*)", container["resources"]["requests"][name]
                ).groups()
                total[name] += pod.workload["spec"]["replicas"] * int(number) * unit.get(letters, 1)
    return total
