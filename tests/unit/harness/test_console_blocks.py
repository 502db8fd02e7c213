"""What a page shows of a command and its output is read as a reader reads it."""

from harness.console_blocks import DocumentedCommand, console_commands

PAGE = """
# A page

```console
$ kubectl get queue a   # tenant
NAME   AGE
a      5s

$ kubectl run probe --overrides='
    {"spec": {"hash": " # none"}}' --dry-run=server   # nothing is made
Warning: too much, ...
$ kubectl delete pod b
```

```yaml
$ not a command
```

- In a list:

  ```console
  # make image
  $ kubectl create -f - <<EOF   # from here
  kind: Pod   # this too
  EOF
  pod/a created
  ```
"""


def test_commands_are_read_with_what_they_print() -> None:
    got, run, gone, made, here = console_commands(PAGE)
    assert got == DocumentedCommand("kubectl get queue a", ("NAME   AGE", "a      5s"))
    overrides = """--overrides='\n    {"spec": {"hash": " # none"}}'"""
    assert run.text == f"kubectl run probe {overrides} --dry-run=server"
    assert run.shown == ("Warning: too much, ...",)
    assert (gone.text, gone.shown) == ("kubectl delete pod b", ())
    assert made.text == "make image"
    assert here.text == "kubectl create -f - <<EOF\nkind: Pod   # this too\nEOF"
    assert here.shown == ("pod/a created",)


def test_lines_are_looked_for_in_their_order() -> None:
    command = DocumentedCommand("", ("first …", "NAME 5s"))
    assert command.missing("before\nfirst of all\nNAME     12m\nafter") == []
    assert command.missing("NAME 5s\nfirst of all") == ["NAME 5s"]
    assert command.missing("first") == ["first …", "NAME 5s"]
    assert command.missing("first of all\nNAME <unknown>") == ["NAME 5s"]
    assert command.missing("first of all\nNAME 5s more") == ["NAME 5s"]
    spoken = DocumentedCommand("", ("a, at 2026-11-26T12:00:00Z (2 pods, for 2 h)",))
    assert spoken.missing("a, at 2027-01-01T00:00:01Z (2 pods, for 13 s)") == []
    assert spoken.missing("a, at 2027-01-01T00:00:01Z (3 pods, for 13 s)") != []
