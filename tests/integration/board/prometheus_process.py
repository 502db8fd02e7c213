"""Debian's Prometheus as a process of the test's own: what it is to scrape, which rules it
evaluates, and what it says.
"""

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cardquota_dev.plane.ports import free_ports
from cardquota_dev.testing import eventually

from .promtool import Rule, rule_file


class PrometheusProcess:
    """Scrapes and evaluates each second. It begins with nothing to scrape."""

    def __init__(self, programs: Path, folder: Path, token: str) -> None:
        self._program, self._folder = programs / "prometheus", folder
        (port,) = free_ports(1)
        self._address = f"127.0.0.1:{port}"
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "token").write_text(token)
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [
                {
                    "job_name": "cardquota",
                    "authorization": {"credentials_file": "token"},
                    "file_sd_configs": [{"files": ["targets.json"], "refresh_interval": "1s"}],
                }
            ],
        }
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
        self.scrape()

    def scrape(self, *targets: str) -> None:
        """These from now on, as `host:port`."""
        content = json.dumps([{"targets": list(targets)}] if targets else [])
        (self._folder / "new.json").write_text(content)
        (self._folder / "new.json").rename(self._folder / "targets.json")

    def start(self, rules: Sequence[Rule]) -> None:
        """Returns once it answers."""
        rule_file(self._folder / "rules.yaml", rules)
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    str(self._program),
                    f"--config.file={self._folder / 'prometheus.yaml'}",
                    f"--storage.tsdb.path={self._folder / 'data'}",
                    f"--web.listen-address={self._address}",
                    "--web.enable-lifecycle",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(self._is_ready, "Prometheus answers")

    def take(self, rules: Sequence[Rule]) -> None:
        """These rules from now on. Alerts of former ones are forgotten."""
        rule_file(self._folder / "rules.yaml", rules)
        with self._open("/-/reload", data=b"") as answer:
            assert answer.status == 200

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each series of an instant vector, now. Fails if it is not one."""
        path = "/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            found = self._json(path)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}") from error
        assert found["resultType"] == "vector", expression
        return [(one["metric"], float(one["value"][1])) for one in found["result"]]

    def firing(self) -> list[Rule]:
        """The alerts that fire, with labels and annotations."""
        alerts = self._json("/api/v1/alerts")["alerts"]
        return [one for one in alerts if one["state"] == "firing"]

    def firing_names(self) -> set[str]:
        return {one["labels"]["alertname"] for one in self.firing()}

    def unhealthy_rules(self) -> list[str]:
        """Rules that could not be evaluated, with the error."""
        groups = self._json("/api/v1/rules")["groups"]
        return [
            f"{rule['name']}: {rule.get('lastError')}"
            for group in groups
            for rule in group["rules"]
            if rule["health"] == "err"
        ]

    def targets(self) -> dict[str, str]:
        """Health of each by its address."""
        found = self._json("/api/v1/targets")["activeTargets"]
        return {one["labels"]["instance"]: one["health"] for one in found}

    def until_evaluated(self) -> None:
        """Wait until it has scraped once more, and evaluated all rules after that."""
        for _ in range(2):
            before = self._evaluated()
            eventually(lambda b=before: self._evaluated() > b, "rules evaluated")

    def _evaluated(self) -> str:
        """When the rules were last evaluated; empty while they were not."""
        groups = self._json("/api/v1/rules")["groups"]
        return min((str(one["lastEvaluation"]) for one in groups), default="")

    def _is_ready(self) -> bool:
        try:
            with self._open("/-/ready") as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _json(self, path: str) -> Any:
        with self._open(path) as answer:
            return json.load(answer)["data"]

    def _open(self, path: str, data: bytes | None = None) -> Any:
        return urllib.request.urlopen(f"http://{self._address}{path}", data, timeout=10)
