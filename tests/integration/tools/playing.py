"""What is there of a tool in its namespace."""

from integration.asking import Object
from integration.team import Team

from .tool_case import ToolCase

HOLDER = "holder"
"""The pod, of no tool, that holds the cards of a full queue."""


def pods_of_tool(team: Team) -> list[Object]:
    return [pod for pod in team.pods() if pod["metadata"]["name"] != HOLDER]


def it_runs(team: Team, case: ToolCase) -> bool:
    """Whether all its pods are there, and each on a node."""
    found = pods_of_tool(team)
    return len(found) == case.pods and all(pod["spec"].get("nodeName") for pod in found)
