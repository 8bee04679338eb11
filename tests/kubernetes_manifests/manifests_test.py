"""The manifests of k8s/ are what Kubernetes takes, and what we mean.

kubectl renders each folder. What comes out is judged by the published schemas (Kubernetes 1.33),
by the restricted Pod Security Standard (pod_security.py) and by rules of our own (consistency.py).
That each of these can fail is tested by manifests that are wrong in one place.
"""

import copy
import unittest
from collections.abc import Callable

import consistency
from documents import Pod, one, pods, requested
from pod_security import violations
from rendering import FOLDERS, KUBERNETES, documents, judged_values, rendered

class Manifests(unittest.TestCase):
    def test_all_folders_are_looked_at(self):
        self.assertLessEqual(
            {
                "base",
                "overlays/ingress",
                "overlays/laptop",
                "overlays/native-sidecar",
                "overlays/shards",
                "overlays/sidecar-container",
                "overlays/standalone",
            },
            set(FOLDERS),
        )

    def test_the_published_schemas_take_them(self):
        for folder in FOLDERS:
            for result in rendered(folder):
                document = result["document"]
                with self.subTest(folder, kind=document["kind"], name=document["metadata"]["name"]):
                    self.assertEqual(result["mistakes"], [])

    def test_pods_are_restricted(self):
        for folder in FOLDERS:
            for pod in pods(documents(folder)):
                with self.subTest(folder, pod=pod.name):
                    self.assertEqual(violations(pod), [])

    def test_they_fit_together(self):
        for folder in FOLDERS:
            with self.subTest(folder):
                self.assertEqual(consistency.mistakes(documents(folder)), [])

    def test_what_ten_replicas_ask_for_is_said_before_they_are_applied(self):
        asked = requested(documents("overlays/standalone"))
        text = (KUBERNETES.parent / "docs/kubernetes.md").read_text(encoding="utf-8")
        before = text[: text.index("kubectl apply -k k8s/overlays/standalone")]
        expected = f"{asked['cpu']:g} processors and {asked['memory']:g} GiB"
        self.assertIn(expected, " ".join(before.split()))

    def test_a_native_sidecar_is_one(self):
        app = one(documents("overlays/native-sidecar"), "Deployment", "app")
        (sidecar,) = app["spec"]["template"]["spec"]["initContainers"]
        self.assertEqual(sidecar["name"], "ringside")
        self.assertEqual(sidecar["restartPolicy"], "Always")
        self.assertIn("startupProbe", sidecar)


# --- Wrong in one place: the kind and name of a document, what is changed in it, what is to be
# said.

Change = Callable[[dict], object]
CACHE = ("StatefulSet", "ringside-cache")
APP = ("Deployment", "app")


def spec_of(document: dict) -> dict:
    return Pod(document).spec


def ringside_of(document: dict) -> dict:
    return Pod(document).ringside[0]


def replace(document: dict, old: str, new: str) -> None:
    """In the arguments of ringside."""
    arguments = ringside_of(document)["args"]
    changed = [argument.replace(old, new) for argument in arguments]
    assert changed != arguments, old
    arguments[:] = changed


def mount(document: dict, volume: str) -> None:
    """Into the application's container."""
    spec_of(document)["containers"][0].update(
        volumeMounts=[{"name": volume, "mountPath": "/mounted"}]
    )


def leave_out(document: dict, start: str) -> None:
    arguments = ringside_of(document)["args"]
    arguments[:] = [argument for argument in arguments if not argument.startswith(start)]


AGAINST_SCHEMAS = (
    (CACHE, lambda d: d["spec"].update(replica=10), "^/spec/replica: unknown field$"),
    (CACHE, lambda d: d["spec"].update(replicas="ten"), "^/spec/replicas: must be integer$"),
    (CACHE, lambda d: d["spec"].pop("selector"), "^/spec: must have required property selector$"),
    (CACHE, lambda d: d["spec"].update(podManagementPolicy="Paralel"), "allowed values"),
    (CACHE, lambda d: ringside_of(d).update(readynessProbe={}), "readynessProbe: unknown field$"),
    (
        CACHE,
        lambda d: ringside_of(d)["livenessProbe"].update(periodSecond=1),
        "livenessProbe/periodSecond: unknown field$",
    ),
    (
        CACHE,
        lambda d: spec_of(d)["securityContext"].update(runAsNonroot=True),
        "securityContext/runAsNonroot: unknown field$",
    ),
    (
        CACHE,
        lambda d: spec_of(d)["topologySpreadConstraints"][0].update(skew=1),
        "topologySpreadConstraints/0/skew: unknown field$",
    ),
    (CACHE, lambda d: d.update(apiVersion="apps/v2"), "^no schema for apps/v2 StatefulSet$"),
    (("Service", "ringside-cache"), lambda d: d["spec"].update(selectors={}), "unknown field"),
    (("Role", "ringside"), lambda d: d["rules"][0].update(resourceName=["a"]), "unknown field"),
    (("ConfigMap", "ringside"), lambda d: d["data"].update(a=1), "^/data/a: must be string"),
    (
        ("NetworkPolicy", "ringside-cache"),
        lambda d: d["spec"]["ingress"][0].update({"form": []}),
        "^/spec/ingress/0/form: unknown field$",
    ),
)

AGAINST_THE_STANDARD = (
    (lambda d: spec_of(d).update(hostNetwork=True), "Host Namespaces: hostNetwork is True"),
    (lambda d: ringside_of(d)["securityContext"].update(privileged=True), "Privileged"),
    (lambda d: ringside_of(d)["securityContext"].pop("allowPrivilegeEscalation"), "Escalation"),
    (lambda d: ringside_of(d)["securityContext"].pop("capabilities"), "Capabilities dropped"),
    (
        lambda d: ringside_of(d)["securityContext"]["capabilities"].update(add=["NET_ADMIN"]),
        "Capabilities added",
    ),
    (lambda d: spec_of(d)["securityContext"].pop("runAsNonRoot"), "Non-root: "),
    (lambda d: ringside_of(d)["securityContext"].update(runAsNonRoot=False), "Non-root: "),
    (lambda d: spec_of(d)["securityContext"].update(runAsUser=0), "Non-root user"),
    (lambda d: spec_of(d)["securityContext"].pop("seccompProfile"), "Seccomp"),
    (
        lambda d: ringside_of(d)["securityContext"].update(seccompProfile={"type": "Unconfined"}),
        "Seccomp",
    ),
    (lambda d: ringside_of(d)["ports"][0].update(hostPort=80), "Host Ports"),
    (lambda d: ringside_of(d)["livenessProbe"]["httpGet"].update(host="a"), "Host Probes"),
    (
        lambda d: spec_of(d)["volumes"].append({"name": "a", "hostPath": {"path": "/"}}),
        "HostPath Volumes",
    ),
    (lambda d: spec_of(d)["volumes"].append({"name": "a", "nfs": {}}), "Volume Types"),
    (
        lambda d: spec_of(d)["securityContext"].update(
            sysctls=[{"name": "kernel.msgmax", "value": "1"}]
        ),
        "Sysctls",
    ),
)

OF_SIDECARS = "overlays/standalone", ("Deployment", "ringside-sidecar")
OF_CACHES = "base", CACHE
OF_APPS = "overlays/sidecar-container", APP
OF_NATIVE = "overlays/native-sidecar", APP
OF_LAPTOP = "overlays/laptop", ("Deployment", "ringside")


def of_base(kind: str, name: str) -> tuple[str, tuple[str, str]]:
    return "base", (kind, name)


OF_POLICY = of_base("NetworkPolicy", "ringside-cache")
AGAINST_OUR_RULES = (
    (*OF_CACHES, lambda d: d["metadata"]["labels"].clear(), "labels: "),
    (*OF_CACHES, lambda d: d["metadata"].update(namespace="other"), "namespaces: "),
    (
        *of_base("PodDisruptionBudget", "ringside-cache"),
        lambda d: d.update(apiVersion="policy/v1beta1"),
        "versions: PodDisruptionBudget ringside-cache: policy/v1beta1",
    ),
    (
        *OF_CACHES,
        lambda d: d["spec"]["selector"]["matchLabels"].popitem(),
        "Service selects other pods",
    ),
    (
        *OF_SIDECARS,
        lambda d: d["spec"]["selector"]["matchLabels"].pop("app.kubernetes.io/component"),
        "Deployment ringside-sidecar selects .*ringside-cache",
    ),
    (
        *of_base("Service", "ringside-cache"),
        lambda d: d["spec"]["selector"].update(a="b"),
        "Service ringside-cache does not select the pods of one workload",
    ),
    (
        *of_base("PodDisruptionBudget", "ringside-cache"),
        lambda d: d["spec"]["selector"]["matchLabels"].update(a="b"),
        "PodDisruptionBudget ringside-cache does not select",
    ),
    (
        *OF_POLICY,
        lambda d: d["spec"]["podSelector"]["matchLabels"].clear(),
        "NetworkPolicy ringside-cache does not select",
    ),
    (*OF_POLICY, lambda d: d["spec"]["ingress"][0].pop("from"), "lets everybody in"),
    (
        *OF_POLICY,
        lambda d: d["spec"]["ingress"][1]["ports"][0].update(port=9091),
        "lets through ports that",
    ),
    (
        *of_base("Service", "ringside-cache"),
        lambda d: d["spec"]["ports"][0].update(targetPort="web"),
        "has no port web",
    ),
    (
        *OF_CACHES,
        lambda d: ringside_of(d)["livenessProbe"]["httpGet"].update(port="web"),
        "livenessProbe asks no port of its container: web",
    ),
    (
        "overlays/ingress",
        ("Ingress", "app"),
        lambda d: d["spec"]["rules"][0]["http"]["paths"][0]["backend"].update(
            service={"name": "app", "port": {"name": "app"}}
        ),
        "does not pass through ringside",
    ),
    (
        "overlays/ingress",
        ("Service", "ringside-sidecar"),
        lambda d: d["spec"]["ports"][0].update(name="web"),
        "leads to no port of a Service",
    ),
    (*OF_APPS, lambda d: Pod(d).labels.pop("ringside-sidecar"), "the tier does not let it in"),
    (*OF_POLICY, lambda d: d["spec"]["ingress"][0]["from"].pop(), "does not let in .*component"),
    (
        *OF_POLICY,
        lambda d: d["spec"]["ingress"][0]["ports"][0].update(port=9090),
        "opens the admin port to more than a named namespace",
    ),
    (*OF_POLICY, lambda d: d["spec"]["ingress"][0].pop("ports"), "opens the admin port to more"),
    (
        "overlays/sidecar-container",
        ("NetworkPolicy", "app"),
        lambda d: d["spec"]["ingress"][2].pop("from"),
        "NetworkPolicy app opens the admin port",
    ),
    (
        "overlays/native-sidecar",
        ("NetworkPolicy", "app"),
        lambda d: d["spec"]["podSelector"]["matchLabels"].update(a="b"),
        "Deployment app: no network policy closes its admin port",
    ),
    (*OF_CACHES, lambda d: d["metadata"]["labels"].update(a="b"), "pods have other labels"),
    (
        *OF_CACHES,
        lambda d: spec_of(d)["topologySpreadConstraints"][0]["labelSelector"].update(
            matchLabels={"app.kubernetes.io/component": "sidecar"}
        ),
        "its spread counts other pods",
    ),
    (
        "overlays/standalone",
        ("PodDisruptionBudget", "ringside-sidecar"),
        lambda d: d["spec"]["selector"]["matchLabels"].pop("app.kubernetes.io/component"),
        "ringside-cache has 2 disruption budgets",
    ),
    (
        "overlays/ingress",
        APP,
        lambda d: spec_of(d).update(automountServiceAccountToken=True),
        "has a token and no use for it",
    ),
    (*OF_CACHES, lambda d: d["spec"].update(podManagementPolicy="OrderedReady"), "wait for each"),
    (*OF_CACHES, lambda d: ringside_of(d).pop("readinessProbe"), "does not ask /readyz"),
    (*OF_CACHES, lambda d: ringside_of(d).pop("imagePullPolicy"), "imagePullPolicy is not"),
    (*OF_CACHES, lambda d: d["spec"].update(serviceName="other"), "serviceName is other"),
    (
        *of_base("Service", "ringside-cache"),
        lambda d: d["spec"].update(publishNotReadyAddresses=True),
        "not ready",
    ),
    (*of_base("Service", "ringside-cache"), lambda d: d["spec"].pop("clusterIP"), "not headless"),
    (*OF_CACHES, lambda d: replace(d, "=ringside-cache", "=other"), "does not look for"),
    (
        *of_base("Role", "ringside"),
        lambda d: d["rules"][1]["verbs"].append("delete"),
        "not exactly those of discovery",
    ),
    (*of_base("Role", "ringside"), lambda d: d["rules"][0].pop("resourceNames"), "not exactly"),
    (
        *of_base("RoleBinding", "ringside"),
        lambda d: d["subjects"][0].update(namespace="other"),
        "not bound",
    ),
    (*OF_CACHES, lambda d: spec_of(d).pop("automountServiceAccountToken"), "has no token"),
    (*OF_CACHES, lambda d: spec_of(d).pop("serviceAccountName"), "no rights to find the tier"),
    (
        *OF_APPS,
        lambda d: spec_of(d).update(automountServiceAccountToken=True),
        "gives its token to other containers",
    ),
    (*OF_APPS, lambda d: ringside_of(d)["volumeMounts"].pop(), "ringside has no token"),
    (
        *OF_CACHES,
        lambda d: spec_of(d).update(terminationGracePeriodSeconds=35),
        "killed before it has drained: 35000 ms",
    ),
    (*OF_SIDECARS, lambda d: leave_out(d, "--drain-delay"), "turns clients away"),
    (*OF_NATIVE, lambda d: ringside_of(d).pop("restartPolicy"), "waited for, for ever"),
    (*OF_NATIVE, lambda d: ringside_of(d).pop("startupProbe"), "does not wait for its sidecar"),
    (*OF_NATIVE, lambda d: replace(d, "127.0.0.1:8080", "[::]:8080"), "the port http disagree"),
    (*OF_CACHES, lambda d: replace(d, "[::]:8080", "[::]:80"), "--listen is not the port http"),
    (*OF_CACHES, lambda d: replace(d, "[::]:9090", "0.0.0.0:9090"), "both families"),
    (*OF_LAPTOP, lambda d: replace(d, "127.0.0.1:9090", "[::]:9090"), "the port admin disagree"),
    (*OF_CACHES, lambda d: ringside_of(d).update(image="ringside"), "not one image with a tag"),
    (*OF_APPS, lambda d: ringside_of(d).update(image="ringside:other"), "not one image"),
    (*OF_CACHES, lambda d: ringside_of(d)["resources"]["limits"].pop("memory"), "memory is not"),
    (*OF_CACHES, lambda d: replace(d, "threads=2", "threads=3"), "as many threads as cores"),
    (*OF_CACHES, lambda d: spec_of(d)["securityContext"].update(runAsUser=1), "runAsUser"),
    (
        *OF_CACHES,
        lambda d: ringside_of(d)["securityContext"].pop("readOnlyRootFilesystem"),
        "can be written",
    ),
    (*OF_CACHES, lambda d: replace(d, "ringside.yaml", "other.yaml"), "there is no /etc/ringside/"),
    (
        *OF_CACHES,
        lambda d: ringside_of(d)["volumeMounts"][0].update(subPath="ringside.yaml"),
        "a subPath does not follow",
    ),
    (*OF_CACHES, lambda d: leave_out(d, "--peer-key-file"), "ringside-cache has no peer key"),
    (*OF_SIDECARS, lambda d: ringside_of(d)["args"].append("--insecure-peers"), "needs no peer"),
    (*OF_NATIVE, lambda d: spec_of(d)["volumes"][1].update(secret={}), "key of the others"),
    (*OF_SIDECARS, lambda d: leave_out(d, "--admin-token-file"), "sidecar has no admin token"),
    (
        *OF_CACHES,
        lambda d: spec_of(d)["volumes"][2].update(secret={"secretName": "ringside-peer-key"}),
        "not the admin token of the others",
    ),
    (
        *OF_CACHES,
        lambda d: ringside_of(d)["volumeMounts"][2].update(subPath="token"),
        "does not follow changes of the admin token",
    ),
    (*OF_APPS, lambda d: mount(d, "ringside-peer-key"), "app: app has the secret ringside-peer"),
    (*OF_APPS, lambda d: mount(d, "ringside-admin-token"), "app has the secret ringside-admin"),
)


def changed(folder: str, which: tuple[str, str], change: Change) -> tuple[list[dict], dict]:
    """All documents of a folder with one of them changed, and that one."""
    all_of_them = copy.deepcopy(documents(folder))
    document = one(all_of_them, *which)
    change(document)
    return all_of_them, document


class Mutations(unittest.TestCase):
    """What is wrong in one place is told."""

    def test_by_the_schemas(self):
        wrong = [changed("base", which, change)[1] for which, change, _ in AGAINST_SCHEMAS]
        for (which, _, expected), told in zip(AGAINST_SCHEMAS, judged_values(wrong), strict=True):
            with self.subTest(which, expected=expected):
                self.assertRegex("\n".join(told), f"(?m){expected}")

    def test_by_the_standard(self):
        for change, expected in AGAINST_THE_STANDARD:
            with self.subTest(expected):
                _, document = changed("base", CACHE, change)
                self.assertRegex("\n".join(violations(Pod(document))), expected)

    def test_by_our_rules(self):
        for folder, which, change, expected in AGAINST_OUR_RULES:
            with self.subTest(folder, which=which, expected=expected):
                all_of_them, _ = changed(folder, which, change)
                self.assertRegex("\n".join(consistency.mistakes(all_of_them)), expected)


if __name__ == "__main__":
    unittest.main()
