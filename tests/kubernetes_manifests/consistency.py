"""What must be true of rendered manifests beyond what a schema or a policy can say.

Each rule is a function of all documents that are applied together, and yields in words what is
wrong.
"""

import ipaddress
import re
from collections.abc import Iterator

from documents import (
    COMPONENT,
    NAME,
    PART_OF,
    SIDECAR,
    TOKEN_FOLDER,
    Pod,
    arguments,
    duration_ms,
    first,
    found,
    of_kind,
    one,
    pods,
    selected,
    title,
)

TIER = "ringside-cache"
ACCOUNT = "ringside"
USER = 65532
# What is in a file of a Secret: the option that names the file, the Secret, and what we call it.
SECRETS = (
    ("peer-key-file", "ringside-peer-key", "peer key"),
    ("admin-token-file", "ringside-admin-token", "admin token"),
)
RIGHTS = [
    {
        "apiGroups": ["apps"],
        "resources": ["statefulsets"],
        "resourceNames": [TIER],
        "verbs": ["get", "list", "watch"],
    },
    {
        "apiGroups": ["discovery.k8s.io"],
        "resources": ["endpointslices"],
        "verbs": ["get", "list", "watch"],
    },
]
SHARDS = "ringside-shards"
SHARD_RIGHTS = [
    {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [SHARDS],
        "verbs": ["get", "patch"],
    }
]
WITHOUT_COMPONENT = ("ConfigMap", "Namespace", "ServiceAccount", "Role", "RoleBinding")
Mistakes = Iterator[str]
Documents = list[dict]


def versions(documents: Documents) -> Mistakes:
    """No API that a later Kubernetes takes away; the schemas still have some of them."""
    for document in documents:
        if not re.fullmatch(r"(.*/)?v\d+", document["apiVersion"]):
            yield f"{title(document)}: {document['apiVersion']}"


def labels(documents: Documents) -> Mistakes:
    """Everything says what it belongs to, and pods what everything else of them says."""
    for document in documents:
        wanted = {NAME, PART_OF} | (set() if document["kind"] in WITHOUT_COMPONENT else {COMPONENT})
        missing = sorted(wanted - document["metadata"].get("labels", {}).keys())
        if missing:
            yield f"{title(document)} has no label {', '.join(missing)}"
    for pod in pods(documents):
        own = pod.workload["metadata"]["labels"]
        if not own.items() <= pod.labels.items():
            yield f"{pod.name}: its pods have other labels than itself"


def namespaces(documents: Documents) -> Mistakes:
    here = {
        document["metadata"].get("namespace")
        for document in documents
        if document["kind"] != "Namespace"
    }
    if len(here) != 1 or None in here:
        yield f"not one namespace: {here}"


def selectors(documents: Documents) -> Mistakes:
    """Each selects pods that are there; no two workloads, and no two budgets, the same."""
    for pod in pods(documents):
        chosen = selected(documents, pod.workload["spec"]["selector"]["matchLabels"])
        if [each.name for each in chosen] != [pod.name]:
            yield f"{pod.name} selects {[each.name for each in chosen]}"
        for term in found(pod.spec, "topologySpreadConstraints[].labelSelector.matchLabels"):
            if selected(documents, term) != [pod]:
                yield f"{pod.name}: its spread counts other pods than its own"
        budgets = [
            budget
            for budget in of_kind(documents, "PodDisruptionBudget")
            if budget["spec"]["selector"]["matchLabels"].items() <= pod.labels.items()
        ]
        if len(budgets) > 1:
            yield f"{pod.name} has {len(budgets)} disruption budgets: it could not be evicted"
    for document in of_kind(documents, "Service", "PodDisruptionBudget", "NetworkPolicy"):
        field = {"Service": "selector", "NetworkPolicy": "podSelector.matchLabels"}
        where = field.get(document["kind"], "selector.matchLabels")
        chosen = first(document["spec"], where)
        if not chosen or len(selected(documents, chosen)) != 1:
            yield f"{title(document)} does not select the pods of one workload"


def ports(documents: Documents) -> Mistakes:
    """Ports that are named, or let through, are those of containers."""
    for service in of_kind(documents, "Service"):
        for target in found(service["spec"], "ports[].targetPort"):
            for pod in selected(documents, service["spec"]["selector"]):
                if target not in [port["name"] for port in pod.ports]:
                    yield f"{title(service)}: {pod.name} has no port {target}"
    for pod in pods(documents):
        for container in pod.containers:
            own = list(found(container, "ports[].name"))
            for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
                asked = first(container, f"{probe}.httpGet.port")
                if asked is not None and asked not in own:
                    yield f"{pod.name}: {probe} asks no port of its container: {asked}"
    for policy in of_kind(documents, "NetworkPolicy"):
        for pod in selected(documents, policy["spec"]["podSelector"]["matchLabels"]):
            open_ports = {port["containerPort"] for port in pod.ports}
            for rule in policy["spec"]["ingress"]:
                if not set(found(rule, "ports[].port")) <= open_ports:
                    yield f"{title(policy)} lets through ports that {pod.name} has not"


def ingresses(documents: Documents) -> Mistakes:
    """Each way in leads to a port of a Service, whose pods are ringside's."""
    for ingress in of_kind(documents, "Ingress"):
        for backend in found(ingress["spec"], "rules[].http.paths[].backend.service"):
            service = one(documents, "Service", backend["name"])
            if backend["port"]["name"] not in found(service, "spec.ports[].name"):
                yield f"{title(ingress)} leads to no port of a Service: {backend}"
            elif not all(pod.ringside for pod in selected(documents, service["spec"]["selector"])):
                yield f"{title(ingress)} does not pass through ringside"


def policies(documents: Documents) -> Mistakes:
    """The tier is closed but to sidecars and itself, admin pages but to a named namespace."""
    tier = one(documents, "StatefulSet", TIER)
    policy = one(documents, "NetworkPolicy", TIER)
    if policy is None or set(policy["spec"]["policyTypes"]) != {"Ingress", "Egress"}:
        yield "no network policy closes the tier both ways"
        return
    for rule in policy["spec"]["ingress"]:
        if not rule.get("from"):
            yield f"{title(policy)} lets everybody in"
    senders = list(found(policy["spec"], "ingress[].from[].podSelector.matchLabels"))
    for wanted in ({SIDECAR: "true"}, tier["spec"]["selector"]["matchLabels"]):
        if wanted not in senders:
            yield f"{title(policy)} does not let in {wanted}"
    for pod in pods(documents):
        for container in pod.ringside:
            if arguments(container)["command"] == "sidecar" and pod.labels.get(SIDECAR) != "true":
                yield f"{pod.name} has no label {SIDECAR}: the tier does not let it in"


def administration(documents: Documents) -> Mistakes:
    """Admin ports are closed but to a named namespace; the kubelet needs no rule."""
    for pod in pods(documents):
        admin = {port["containerPort"] for port in pod.ports if port["name"] == "admin"}
        policies_of_pod = [
            policy
            for policy in of_kind(documents, "NetworkPolicy")
            if pod in selected(documents, policy["spec"]["podSelector"]["matchLabels"])
        ]
        if admin and not policies_of_pod:
            yield f"{pod.name}: no network policy closes its admin port"
        for policy in policies_of_pod:
            for rule in policy["spec"]["ingress"]:
                let_in = set(found(rule, "ports[].port"))
                if let_in and not let_in & admin:
                    continue
                senders = rule.get("from") or [{}]
                if not all(first(sender, "namespaceSelector.matchLabels") for sender in senders):
                    yield f"{title(policy)} opens the admin port to more than a named namespace"


def tier(documents: Documents) -> Mistakes:
    """The StatefulSet has its headless Service, and --kubernetes names both."""
    stateful_set, service = one(documents, "StatefulSet", TIER), one(documents, "Service", TIER)
    if stateful_set is None or service is None:
        yield f"no StatefulSet and Service {TIER}"
        return
    if stateful_set["spec"]["serviceName"] != TIER:
        yield f"its serviceName is {stateful_set['spec']['serviceName']}"
    if stateful_set["spec"]["podManagementPolicy"] != "Parallel":
        yield "replicas wait for each other"
    if service["spec"].get("clusterIP") != "None":
        yield "its Service is not headless"
    if service["spec"].get("publishNotReadyAddresses"):
        yield "its Service gives out replicas that are not ready"
    if service["spec"]["selector"] != stateful_set["spec"]["selector"]["matchLabels"]:
        yield "its Service selects other pods"
    if not {"http", "admin"} <= set(found(service, "spec.ports[].name")):
        yield "its Service has not the ports http and admin"
    for pod in pods(documents):
        for container in pod.ringside:
            if arguments(container).get("kubernetes") != TIER:
                yield f"{pod.name} does not look for {TIER}"


def rights(documents: Documents) -> Mistakes:
    """Exactly what discovery asks for, and who writes the shards, for exactly those who ask."""
    shards = one(documents, "ConfigMap", SHARDS)
    wanted = [RIGHTS] if shards is None else [RIGHTS, SHARD_RIGHTS]
    roles = of_kind(documents, "Role", "ClusterRole")
    given = [role["rules"] for role in roles if role["kind"] == "Role"]
    if len(given) != len(roles) or len(given) != len(wanted) or any(one not in given for one in wanted):
        yield "the rights are not exactly those of discovery"
    if shards is not None and "data" in shards:
        yield "the shards are overwritten by what is applied"
    bindings = of_kind(documents, "RoleBinding", "ClusterRoleBinding")
    here = one(documents, "StatefulSet", TIER)["metadata"]["namespace"]
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": here}
    bound = sorted(one["roleRef"]["name"] for one in bindings)
    if bound != sorted(role["metadata"]["name"] for role in roles) or any(
        one["subjects"] != [subject] for one in bindings
    ):
        yield "the rights are not bound to the service account alone"
    account = one(documents, "ServiceAccount", ACCOUNT)
    if account is None or account.get("automountServiceAccountToken") is not False:
        yield "the service account gives its token to any pod"


def tokens(documents: Documents) -> Mistakes:
    """The API server's token is for containers of ringside, and no others."""
    for pod in pods(documents):
        mounted = pod.spec.get("automountServiceAccountToken") is True
        if not pod.ringside and mounted:
            yield f"{pod.name} has a token and no use for it"
        if pod.ringside and pod.spec.get("serviceAccountName") != ACCOUNT:
            yield f"{pod.name} has no rights to find the tier"
        if mounted and len(pod.ringside) != len(pod.containers):
            yield f"{pod.name} gives its token to other containers than ringside"
        for container in pod.containers:
            own = TOKEN_FOLDER in found(container, "volumeMounts[].mountPath")
            if container in pod.ringside and own == mounted:
                yield f"{pod.name}: ringside has no token" + (" of its own" if mounted else "")
            if container not in pod.ringside and own:
                yield f"{pod.name}: {container['name']} has the token"


def termination(documents: Documents) -> Mistakes:
    """The kubelet waits longer than ringside takes to end."""
    for pod in pods(documents):
        for container in pod.ringside:
            given = arguments(container)
            took_ms = duration_ms(given.get("drain-delay", "0ms"))
            took_ms += duration_ms(given["drain-deadline"])
            if pod.spec.get("terminationGracePeriodSeconds", 30) * 1000 <= took_ms:
                yield f"{pod.name} is killed before it has drained: {took_ms} ms"
            stays = container in pod.spec.get("initContainers", [])
            if not stays and "drain-delay" not in given:
                yield f"{pod.name} turns clients away before anybody knows that it ends"
            if stays and container.get("restartPolicy") != "Always":
                yield f"{pod.name}: the init container is waited for, for ever"
            if stays and "startupProbe" not in container:
                yield f"{pod.name}: the application does not wait for its sidecar"


def containers(documents: Documents) -> Mistakes:
    """Each container of ringside is as the others: one image, one user, bounds, probes."""
    images = set()
    for pod in pods(documents):
        for container in pod.ringside:
            images.add(container["image"])
            yield from (f"{pod.name}: {word}" for word in container_mistakes(pod, container))
    if len(images) != 1 or not all(":" in image for image in images):
        yield f"not one image with a tag: {sorted(images)}"


def container_mistakes(pod: Pod, container: dict) -> Mistakes:
    for field in ("runAsUser", "runAsGroup"):
        own = first(container, f"securityContext.{field}")
        if (first(pod.spec, f"securityContext.{field}") if own is None else own) != USER:
            yield f"{field} is not {USER}"
    if first(container, "securityContext.readOnlyRootFilesystem") is not True:
        yield "its file system can be written"
    if container.get("imagePullPolicy") != "IfNotPresent":
        yield "imagePullPolicy is not IfNotPresent"
    for probe, page in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        if first(container, f"{probe}.httpGet.path") != page:
            yield f"{probe} does not ask {page}"
    bounds = container.get("resources", {})
    for name in ("cpu", "memory"):
        if not all(bounds.get(kind, {}).get(name) for kind in ("requests", "limits")):
            yield f"{name} is not requested and limited"
    if first(bounds, "limits.cpu") != arguments(container).get("threads"):
        yield "it has not as many threads as cores"


def listening(documents: Documents) -> Mistakes:
    """Containers listen where their ports say; only loopback needs no port."""
    for pod in pods(documents):
        for container in pod.ringside:
            declared = {port["name"]: port["containerPort"] for port in container["ports"]}
            for option, name in (("listen", "http"), ("admin", "admin")):
                host, _, port = arguments(container)[option].rpartition(":")
                address = ipaddress.ip_address(host.strip("[]"))
                if address.is_loopback == (name in declared):
                    yield f"{pod.name}: --{option} and the port {name} disagree"
                elif not address.is_loopback and declared[name] != int(port):
                    yield f"{pod.name}: --{option} is not the port {name}"
                if not (address.is_loopback or str(address) == "::"):
                    yield f"{pod.name}: --{option} does not take both families"


def configuration(documents: Documents) -> Mistakes:
    """--config is a key of the ConfigMap, mounted as a folder, so that it follows changes."""
    for pod in pods(documents):
        for container in pod.ringside:
            folder, _, key = arguments(container)["config"].rpartition("/")
            mounts = [m for m in container["volumeMounts"] if m["mountPath"] == folder]
            volumes = [v for v in pod.spec["volumes"] if [v["name"]] == [m["name"] for m in mounts]]
            name = first(volumes[0], "configMap.name") if volumes else None
            config_map = one(documents, "ConfigMap", name)
            if config_map is None or key not in config_map["data"]:
                yield f"{pod.name}: there is no {folder}/{key}"
            elif "subPath" in mounts[0]:
                yield f"{pod.name}: a subPath does not follow changes"


def secrets(documents: Documents) -> Mistakes:
    """Each container of ringside, and no other, has key and token from Secrets; none is told."""
    for secret in of_kind(documents, "Secret"):
        yield f"{title(secret)}: what is in the manifests is no secret"
    for pod in pods(documents):
        volumes = {v["name"]: v["secret"] for v in pod.spec.get("volumes", []) if "secret" in v}
        for container in pod.containers:
            mounts = [m for m in container.get("volumeMounts", []) if m["name"] in volumes]
            if container not in pod.ringside:
                for mount in mounts:
                    yield f"{pod.name}: {container['name']} has the secret {mount['name']}"
                continue
            given = arguments(container)
            if "insecure-peers" in given:
                yield f"{pod.name} needs no peer key"
            for option, secret, what in SECRETS:
                folder = given.get(option, "").rpartition("/")[0]
                own = [m for m in mounts if m["mountPath"] == folder]
                if not own:
                    yield f"{pod.name} has no {what}"
                elif volumes[own[0]["name"]].get("secretName") != secret:
                    yield f"{pod.name} has not the {what} of the others"
                elif "subPath" in own[0]:
                    yield f"{pod.name}: a subPath does not follow changes of the {what}"


RULES = (
    versions, labels, namespaces, selectors, ports, ingresses, administration, termination,
    containers, listening, configuration,
)  # fmt: skip
# Where sidecars find replicas; `ringside up` has both in itself.
TIER_RULES = (policies, tier, rights, tokens, secrets)


def mistakes(documents: Documents) -> list[str]:
    commands = {arguments(each)["command"] for pod in pods(documents) for each in pod.ringside}
    rules = RULES if commands == {"up"} else RULES + TIER_RULES
    return [f"{rule.__name__}: {word}" for rule in rules for word in rule(documents)]
