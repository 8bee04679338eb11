"""What a sidecar says that may not ask, or asks for what is not there."""

import time

from support.figures import figures
from support.tier import ADMIN, PLACE, PODS, Scenario, get, is_ready
from support.waiting import wait_until

SAID_S = 20


def sidecar(name: str, account: str, target: str) -> dict:
    """A pod with nothing but a sidecar."""
    container = {
        "name": "ringside",
        "image": "ringside:test",
        "imagePullPolicy": "Never",
        "args": ["sidecar", "--listen=[::]:8080", f"--admin=[::]:{ADMIN}", f"--kubernetes={target}",
                 "--insecure-peers", "--threads=1"],  # fmt: skip
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": ADMIN}, "periodSeconds": 1},
    }
    spec = {
        "serviceAccountName": account,
        "automountServiceAccountToken": True,
        "containers": [container],
        "terminationGracePeriodSeconds": 1,
    }
    return {"metadata": {"name": name}, "spec": spec}


class Rights(Scenario):
    def _create(self, path: str, name: str, body: dict) -> None:
        """An object that goes with the test. A service account is of use once its token is made."""
        api = self.deployment.api
        api.ask("POST", path, {"metadata": {"name": name}, **body})
        self.addCleanup(api.ask, "DELETE", f"{path}/{name}")
        if path.endswith("/serviceaccounts"):
            wait_until(lambda: "secrets" in api.get(f"{path}/{name}"), f"a token for {name}")

    def _says(self, name: str, account: str, target: str, *words: str) -> None:
        """/readyz is 503 and has all the words, and the pod is not ready."""
        api = self.deployment.api
        api.ask("POST", PODS, sidecar(name, account, target))
        self.addCleanup(api.ask, "DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        begin = time.monotonic()
        address = wait_until(
            lambda: api.get(f"{PODS}/{name}")["status"].get("podIP"), f"{name} to have an address"
        )
        pages = []

        def has_words() -> bool:
            status, page = get(f"{address}:{ADMIN}", "/readyz")
            pages.append((status, page))
            return status == 503 and all(word in page for word in words)

        try:
            wait_until(has_words, f"{name} to say {words}", SAID_S)
        except AssertionError as error:
            raise AssertionError(f"{error}: {pages[-1]}") from None
        figures.add("rights", f"{name} said so after", time.monotonic() - begin, "s")
        print(f"\n{pages[-1][1]}")
        self.assertFalse(is_ready(api.get(f"{PODS}/{name}")))

    def test_without_the_role(self):
        self._create(f"/api/v1{PLACE}/serviceaccounts", "nobody", {})
        self._says("without-role", "nobody", "ringside-cache", "list", "statefulsets",
                   "ringside-cache")  # fmt: skip

    def test_without_the_right_to_slices(self):
        roles = f"/apis/rbac.authorization.k8s.io/v1{PLACE}"
        rule = {
            "apiGroups": ["apps"],
            "resources": ["statefulsets"],
            "resourceNames": ["ringside-cache"],
            "verbs": ["get", "list", "watch"],
        }
        subject = {"kind": "ServiceAccount", "name": "half"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "half"}
        for path, body in (
            (f"/api/v1{PLACE}/serviceaccounts", {}),
            (f"{roles}/roles", {"rules": [rule]}),
            (f"{roles}/rolebindings", {"subjects": [subject], "roleRef": role}),
        ):
            self._create(path, "half", body)
        self._says("without-slices", "half", "ringside-cache", "list", "endpointslices")

    def test_a_name_that_is_not_there(self):
        self._says("mistaken", "ringside", "no-such", "no-such")
