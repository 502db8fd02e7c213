{{- /* A list of texts in CEL and in YAML. */}}
{{- define "cardquota.literals" -}}
[{{ range $number, $text := . }}{{ if $number }}, {{ end }}{{ toRawJson $text }}{{ end }}]
{{- end }}

{{- /* The accounts of device plugins: nodes, and those of exempt namespaces. */}}
{{- define "cardquota.pluginAccounts" -}}
{{- $groups := list "system:nodes" }}
{{- range . }}
{{- $groups = append $groups (printf "system:serviceaccounts:%s" .) }}
{{- end }}
{{- include "cardquota.literals" $groups }}
{{- end }}

{{- /* A part of a resource name, in a regular expression. */}}
{{- define "cardquota.escaped" -}}
{{ . | replace "." "\\." | replace "-" "\\-" }}
{{- end }}

{{- /* The rows of vendors, first those of the values: which resource name, which other names, and
       the regular expression for all of them. As JSON. */}}
{{- define "cardquota.makers" -}}
{{- $rows := list }}
{{- $usual := list }}
{{- range dig "vendors" (list) .Values.config }}
{{- $name := printf "%s/%s" .prefix .type }}
{{- $kind := include "cardquota.escaped" .type }}
{{- $kinds := list $kind (printf "%s\\.shared" $kind) "mig-.+" }}
{{- with .resourcePrefix }}
{{- $kinds = append $kinds (printf "%s[A-Za-z0-9_-]+" (include "cardquota.escaped" .)) }}
{{- end }}
{{- $patterns := list (printf "%s/(%s)" (include "cardquota.escaped" .prefix) (join "|" $kinds)) }}
{{- $names := list $name (printf "%s.shared" $name) }}
{{- range .resources }}
{{- $patterns = append $patterns (include "cardquota.escaped" .) }}
{{- $names = append $names . }}
{{- end }}
{{- $usual = append $usual $name }}
{{- $rows = append $rows (dict "pattern" (join "|" $patterns) "resources" $names) }}
{{- end }}
{{- range include "cardquota.knownMakers" . | fromJsonArray }}
{{- if not (has .usual $usual) }}
{{- $rows = append $rows (dict "pattern" .pattern "resources" .resources) }}
{{- end }}
{{- end }}
{{- toJson $rows }}
{{- end }}

{{- /* The regular expression for the resource names of all rows, as a text of CEL. */}}
{{- define "cardquota.vendors" -}}
{{- $patterns := list }}
{{- range include "cardquota.makers" . | fromJsonArray }}
{{- $patterns = append $patterns .pattern }}
{{- end }}
{{- printf "^(%s)$" (join "|" $patterns) | toRawJson }}
{{- end }}

{{- /* The resource names for whose pods kube-scheduler asks, as JSON. */}}
{{- define "cardquota.managedResources" -}}
{{- $names := include "cardquota.otherResources" . | fromJsonArray }}
{{- $names = concat $names (dig "extender" "managedResources" (list) .Values.config) }}
{{- range include "cardquota.makers" . | fromJsonArray }}
{{- $names = concat $names .resources }}
{{- end }}
{{- $names | uniq | sortAlpha | toJson }}
{{- end }}

{{- /* The name of an image. It gets the image, and the tag for one that has none. */}}
{{- define "cardquota.image" -}}
{{- $image := first . }}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default (last .) }}{{ end }}
{{- end }}

{{- /* The settings as the operator reads them. */}}
{{- define "cardquota.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $_ := set $config "namespace" .Release.Namespace }}
{{- if .Values.certManager.enabled }}
{{- $_ := set $config "webhook" (set (dig "webhook" (dict) $config) "certificates" "secret") }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- /* Whether pods are ended for others, or it is said which would be: the mode is one word, which YAML
       may read as a boolean, or stands in a section. */}}
{{- define "cardquota.reclaims" -}}
{{- $mode := dig "reclaim" "off" .Values.config }}
{{- if kindIs "map" $mode }}
{{- $mode = dig "mode" "off" $mode }}
{{- end }}
{{- if not (has $mode (list "off" false)) }}true{{ end }}
{{- end }}

{{- /* Where pods run, and with which secrets they get images. */}}
{{- define "cardquota.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toJson . }}
{{- end }}
{{- end }}
