"""A reader who types what a page shows, on a plane of the reader's own.

What stands in for what a plane lacks: `kubectl apply -k .` applies what kustomize makes of the
folder, except that the webhooks, and the operator's configuration, have an address of this machine
for that of the Service, since no node of the plane runs containers. kwok says that the operator's
pods run; the operator itself is a process, with the rights of its account, and the environment and
the configuration of its Deployment.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from os.path import relpath
from pathlib import Path
from typing import Any

import yaml

from builders.rendered import parsed
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually
from harness.console_blocks import DocumentedCommand
from integration.process.running import QUICK, OperatorProcess, published_ca

REPOSITORY = "github.com/YOU/cardquota"
"""As the pages write it."""
_READS = re.compile(
    r"^kubectl cardquota (?:check|cards|top|queue|explain)|^kubectl get |--dry-run=server"
)
"""These are typed again until they show what the page shows: all else only once."""


def yaml_blocks(page: Path) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


class Reader:
    """The working folder has `kustomization.yaml`; commands run there, by a shell."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        assert cluster.folder is not None
        self.cluster, self._folder = cluster, folder
        self._outside = folder / "operator"
        self._outside.mkdir()
        self._settings_in_use: dict[str, Any] = {}
        self._operator = OperatorProcess(self._outside, cluster.folder.product_kubeconfig, QUICK)
        self._environment = {
            **os.environ,
            "KUBECONFIG": str(cluster.kubeconfig),
            "KUBECACHEDIR": str(folder / "kubectl-cache"),
            "KUBERC": "off",
            "PATH": os.pathsep.join(
                (cluster.state.bin_dir, str(Path(sys.executable).parent), os.environ["PATH"])
            ),
        }

    def types(self, command: DocumentedCommand, expected: int) -> None:
        """It ends with this exit code, and shows what is documented."""
        seen: list[str] = []

        def shown() -> bool:
            status, output = self.runs(command.text)
            seen[:] = [f"$ {command.text}", output, f"exit code {status}"]
            return status == expected and not command.missing(output)

        try:
            if _READS.search(command.text):
                # What is stored each 30 s, as the record of audit mode, is shown after that.
                eventually(shown, f"the output of `{command.text}`", 90, every=0.5)
            else:
                assert shown(), f"not as the page says: {command.text}"
        except AssertionError as error:
            error.add_note("\n".join(seen))
            raise

    def runs(self, command: str) -> tuple[int, str]:
        """Exit code and output, both streams in the order of writing."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=90,
            check=False,
        )
        return done.returncode, done.stdout

    def writes(self, kustomization: str) -> None:
        """The kustomization of the pages; what they have in the repository is in the checkout."""
        here = relpath(CHECKOUT, self._folder)
        (self._folder / "kustomization.yaml").write_text(kustomization.replace(REPOSITORY, here))

    def written(self) -> str:
        return (self._folder / "kustomization.yaml").read_text()

    def applies(self) -> None:
        """`kubectl apply -k .`. The operator restarts if its Deployment has changed."""
        status, text = self.runs("kubectl kustomize .")
        assert status == 0, text
        documents = parsed(text)
        for one in documents:
            for webhook in one.get("webhooks", ()):
                self._reached(webhook["clientConfig"])
        settings = self._settings(documents)
        (self._folder / "config.yaml").write_text(yaml.safe_dump(settings))
        self.cluster.apply(yaml.safe_dump_all(documents))
        if settings != self._settings_in_use:
            self._settings_in_use = settings
            self._restart(settings)

    def ends(self) -> None:
        self._operator.stop()

    def _reached(self, client: dict[str, Any]) -> None:
        path = client.pop("service").get("path", "")
        client["url"] = f"{self._url}{path}"

    @property
    def _url(self) -> str:
        return f"https://127.0.0.1:{self._operator.webhook_port}"

    def _settings(self, documents: list[dict[str, Any]]) -> dict[str, Any]:
        """Those of the ConfigMap, which get the address, and of the Deployment's environment."""
        by_kind = {one["kind"]: one for one in documents if one["metadata"]["name"] == "cardquota"}
        data = by_kind["ConfigMap"]["data"]
        settings = {**yaml.safe_load(data["config.yaml"]), "webhook": {"url": self._url}}
        data["config.yaml"] = yaml.safe_dump(settings)
        (container,) = by_kind["Deployment"]["spec"]["template"]["spec"]["containers"]
        for variable in container["env"]:
            name = variable["name"].removeprefix("CARDQUOTA_").lower()
            if "__" not in name:  # ports of the pod
                settings[name] = variable["value"]
        return settings

    def _restart(self, settings: Mapping[str, Any]) -> None:
        self._operator.stop()
        ours = yaml.safe_load(self._operator.config.read_text())
        ours = {key: ours[key] for key in ("metrics", *QUICK)}
        address = {"host": "127.0.0.1", "port": self._operator.webhook_port}
        webhook = {**settings["webhook"], **address}
        self._operator.config.write_text(yaml.safe_dump({**settings, **ours, "webhook": webhook}))
        self._operator.start()
        self._operator.until_leading()
        eventually(lambda: published_ca(self.cluster), "caBundle")
