{{- define "heterodyne.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "heterodyne.selected" -}}
app.kubernetes.io/name: heterodyne
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "heterodyne.labels" -}}
{{ include "heterodyne.selected" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "heterodyne.account" -}}
{{- default (include "heterodyne.name" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "heterodyne.image" -}}
{{- $image := .Values.image }}
{{- if $image.digest }}{{ $image.repository }}@{{ $image.digest }}
{{- else }}{{ $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- end }}
{{- end }}

{{- define "heterodyne.scheme" -}}
{{- if .Values.tls.secretName }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- /* What cannot be is refused here, so that no release begins with it. */ -}}
{{- define "heterodyne.check" -}}
{{- $many := or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}
{{- if and $many (not .Values.database.secretName) }}
{{- fail "more than one gateway (replicas, autoscaling): name the database they share in database.secretName" }}
{{- end }}
{{- if and $many (not .Values.redis.secretName) }}
{{- fail "more than one gateway (replicas, autoscaling): name the Redis that keeps their limits in redis.secretName" }}
{{- end }}
{{- if and $many .Values.state.existingClaim }}
{{- fail "state.existingClaim is for one pod alone, and there is more than one (replicas, autoscaling)" }}
{{- end }}
{{- if and .Values.scaling.workloads (not .Values.discovery.enabled) }}
{{- fail "scaling.workloads: what is scaled is discovered first; set discovery.enabled" }}
{{- end }}
{{- if and .Values.console.enabled (not .Values.console.operatorKeys.secretName) }}
{{- fail "console.enabled: name the Secret with the operators' keys in console.operatorKeys.secretName" }}
{{- end }}
{{- end }}
