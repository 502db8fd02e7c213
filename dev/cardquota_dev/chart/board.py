"""The template of the dashboard: the ConfigMap that the component `board` makes."""

from typing import Final

from ..board.dashboard import dashboard_json

_HEAD: Final = """\
{{- if .Values.board.enabled }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: cardquota-board
  namespace: {{ .Release.Namespace }}
  labels:
    app.kubernetes.io/name: cardquota
{{- with .Values.board.labels }}
{{ toYaml . | indent 4 }}
{{- end }}
data:
  cardquota.json: |
"""


def board() -> str:
    """The template's text."""
    # Braces of others: the names of lines in Grafana.
    text = dashboard_json().replace("{{", '{{ "{{" }}')
    body = "".join(f"    {line}\n" for line in text.splitlines())
    return f"{_HEAD}{body}{{{{- end }}}}\n"
