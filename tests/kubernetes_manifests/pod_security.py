"""The restricted profile of the Pod Security Standards, as a table.

kubernetes.io/docs/concepts/security/pod-security-standards: `restricted` is `baseline` and more.
Each line is a control of that page: its name, where its fields are, and what they may hold; None
stands for an absent field.
"""

import dataclasses
from collections.abc import Callable, Iterator

from documents import Pod, first, found

Allowed = Callable[[object], bool]


def one_of(*values: object) -> Allowed:
    known = [(type(value), value) for value in values]  # 0 is not False
    return lambda value: (type(value), value) in known


def within(*values: object) -> Allowed:
    return lambda value: set(value or []) <= set(values)


@dataclasses.dataclass(frozen=True)
class Control:
    name: str
    allowed: Allowed
    pod: tuple[str, ...] = ()  # fields of a pod's spec
    container: tuple[str, ...] = ()  # fields of each container
    inherited: str = ""  # a field of a container, or where it is absent, of its pod


HOOKS = (
    "livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop",
)  # fmt: skip
SAFE_SYSCTLS = (
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
)  # fmt: skip
VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim",
    "projected", "secret",
}  # fmt: skip


def everywhere(field: str) -> dict:
    field = f"securityContext.{field}"
    return {"pod": (field,), "container": (field,)}


CONTROLS = (
    # baseline
    Control("HostProcess", one_of(None, False), **everywhere("windowsOptions.hostProcess")),
    Control("Host Namespaces", one_of(None, False), pod=("hostNetwork", "hostPID", "hostIPC")),
    Control("Privileged", one_of(None, False), container=("securityContext.privileged",)),
    Control("HostPath Volumes", one_of(None), pod=("volumes[].hostPath",)),
    Control("Host Ports", one_of(None, 0), container=("ports[].hostPort",)),
    Control(
        "Host Probes",
        one_of(None, ""),
        container=tuple(f"{hook}.{way}.host" for hook in HOOKS for way in ("httpGet", "tcpSocket")),
    ),
    Control(
        "AppArmor",
        one_of(None, "RuntimeDefault", "Localhost"),
        **everywhere("appArmorProfile.type"),
    ),
    Control(
        "SELinux type",
        one_of(
            None, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"
        ),
        **everywhere("seLinuxOptions.type"),
    ),
    Control("SELinux user", one_of(None, ""), **everywhere("seLinuxOptions.user")),
    Control("SELinux role", one_of(None, ""), **everywhere("seLinuxOptions.role")),
    Control("/proc Mount", one_of(None, "Default"), container=("securityContext.procMount",)),
    Control(
        "Sysctls", one_of(None, *SAFE_SYSCTLS), pod=("securityContext.sysctls[].name",)
    ),
    # restricted
    Control("Volume Types", lambda volume: volume.keys() - {"name"} <= VOLUMES, pod=("volumes[]",)),
    Control(
        "Privilege Escalation",
        one_of(False),
        container=("securityContext.allowPrivilegeEscalation",),
    ),
    Control("Non-root", one_of(True), inherited="securityContext.runAsNonRoot"),
    Control("Non-root user", lambda user: user != 0, **everywhere("runAsUser")),
    Control(
        "Seccomp",
        one_of("RuntimeDefault", "Localhost"),
        inherited="securityContext.seccompProfile.type",
    ),
    Control(
        "Capabilities dropped",
        lambda names: "ALL" in (names or []),
        container=("securityContext.capabilities.drop",),
    ),
    Control(
        "Capabilities added",
        within("NET_BIND_SERVICE"),
        container=("securityContext.capabilities.add",),
    ),
)


def values_of(control: Control, pod: Pod) -> Iterator[tuple[str, object]]:
    """(field, value) of all fields that a control is about."""
    for field in control.pod:
        yield from ((field, value) for value in found(pod.spec, field))
    for container in pod.containers:
        name = container["name"]
        for field in control.container:
            yield from ((f"{name}: {field}", value) for value in found(container, field))
        if control.inherited:
            own = first(container, control.inherited)
            yield (
                f"{name}: {control.inherited}",
                first(pod.spec, control.inherited) if own is None else own,
            )


def violations(pod: Pod) -> list[str]:
    return [
        f"{pod.name}: {control.name}: {field} is {value}"
        for control in CONTROLS
        for field, value in values_of(control, pod)
        if not control.allowed(value)
    ]
