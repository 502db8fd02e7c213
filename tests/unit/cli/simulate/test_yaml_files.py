"""Files that cannot be read say so on one line; what is not known is left out with a note."""

import io
import json
from pathlib import Path

import pytest

from cardquota.cli.simulate import yaml_files
from cardquota.cli.simulate.inventory import WrittenWorkload, sort_documents
from cardquota.cli.simulate.yaml_files import YamlFileError, read_files
from cardquota.quota.objects import Namespace, Queue

QUEUE = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research, creationTimestamp: 2026-01-01T00:00:00Z}
"""


DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n"


def written(folder: Path, text: str | bytes) -> str:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def standard_input(text: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [1\nb: 2\n", "is not YAML: expected ',' or ']', but got ':' (line 2, column 2)"),
        (b"\xff\xfe\x00", "cannot be read: it is not UTF-8 text"),
        ("a: \x07", "is not YAML: "),
        ("[" * 600, "is not YAML: it is nested too deep"),
        ("- 1", "is not a Kubernetes object, but a list"),
        ("hello", "is not a Kubernetes object, but the text <hello>"),
        ("a: 1", "has no kind or no apiVersion"),
        (f"{QUEUE}\n---\nkind: Pod", "document 2: has no kind or no apiVersion"),
        ("apiVersion: v1\nkind: List\nitems: 3", "the items of the List are not a list"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {}", "Pod has no metadata.name"),
        ("apiVersion: v1\nkind: Pod", "Pod cannot be read: Object missing required field"),
        (
            DEPLOYMENT + 'spec: {replicas: "3", template: {}}',
            "Deployment x cannot be read: Expected `int | null`, got `str` - at `$.spec.replicas`",
        ),
        (
            DEPLOYMENT + "spec: {replicas: 1000000000, template: {}}",
            "Expected `int` <= 100000 - at `$.spec.replicas`",
        ),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: x, labels: {card-quota: off}}",
            "Expected `str`, got `bool` - at `$.metadata.labels[...]` (put it in quotes)",
        ),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str | bytes, problem: str) -> None:
    source = written(tmp_path, text)
    with pytest.raises(YamlFileError) as caught:
        sort_documents(read_files([source]))
    assert str(caught.value).startswith(source)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(YamlFileError, match="No such file"):
        read_files([str(tmp_path / "none.yaml")])
    with pytest.raises(YamlFileError, match="a directory without"):
        read_files([str(tmp_path)])


def test_folder_standard_input_and_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, QUEUE)
    (tmp_path / "notes.txt").write_text("no: [yaml")
    monkeypatch.setattr(
        "sys.stdin",
        standard_input(b"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret}\n"),
    )
    found = read_files([str(tmp_path), "-"])
    kinds = [("scheduling.volcano.sh", "Queue"), ("", "Secret")]
    assert [(d.group, d.kind) for d in found] == kinds
    inventory = sort_documents(found)
    assert [q.metadata.name for q in inventory.of(Queue)] == ["research"]
    assert inventory.notes == ["standard input, item 1: Secret is skipped: not simulated"]


def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_files, "_LARGEST", 1 << 20)
    with pytest.raises(YamlFileError, match="/dev/zero: is larger than 1 MiB; give it in parts"):
        read_files(["/dev/zero"])
    monkeypatch.setattr("sys.stdin", standard_input(b"#" * ((1 << 20) + 1)))
    with pytest.raises(YamlFileError, match="standard input: is larger than 1 MiB"):
        read_files(["-"])
    monkeypatch.setattr("sys.stdin", standard_input(b"#" * (1 << 20)))
    assert read_files(["-"]) == []


def test_standard_input_that_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", standard_input(b"\xff\xfe\x00"))
    with pytest.raises(YamlFileError, match="standard input: cannot be read: it is not UTF-8"):
        read_files(["-"])


def test_the_last_of_two_counts(tmp_path: Path) -> None:
    other = QUEUE.replace("{name: research,", "{name: research, uid: second,")
    inventory = sort_documents(read_files([written(tmp_path, f"{QUEUE}\n---{other}")]))
    assert [q.metadata.uid for q in inventory.of(Queue)] == ["second"]
    assert "it replaces the one before" in inventory.notes[0]


def test_generated_names_differ(tmp_path: Path) -> None:
    pod = "\n---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n"
    inventory = sort_documents(read_files([written(tmp_path, pod * 2)]))
    made = [one for one in inventory.workloads if isinstance(one, WrittenWorkload)]
    assert len({one.body.metadata.name for one in made}) == 2


@pytest.mark.parametrize("end", ["", "\n", " \n\n"])
def test_json_is_read_as_it_stands(tmp_path: Path, end: str) -> None:
    meta = {"name": "x", "labels": {"a": "off"}}
    named = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [named]})
    (found,) = sort_documents(read_files([written(tmp_path, text + end)])).of(Namespace)
    assert (found.metadata.name, found.metadata.labels) == ("x", {"a": "off"})
    text = "{apiVersion: v1, kind: Namespace, metadata: {name: y}}" + end
    (found,) = sort_documents(read_files([written(tmp_path, text)])).of(Namespace)
    assert found.metadata.name == "y"
    deep = '{"a": ' * 5_000 + "1" + "}" * 5_000
    with pytest.raises(YamlFileError, match="nested too deep"):
        read_files([written(tmp_path, deep)])


@pytest.mark.parametrize("value", ["!!bool abc", "!!int ''", "!!timestamp abc", "!!float x"])
def test_a_value_that_is_not_what_its_tag_says_is_no_yaml(tmp_path: Path, value: str) -> None:
    with pytest.raises(YamlFileError, match=r"is not YAML: "):
        read_files([written(tmp_path, f"x: {value}")])


def test_a_list_that_contains_itself_has_an_end(tmp_path: Path) -> None:
    text = "&a {apiVersion: v1, kind: List, items: [*a]}"
    with pytest.raises(YamlFileError, match="more than 8 Lists in each other"):
        read_files([written(tmp_path, text)])
