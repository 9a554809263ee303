{{- define "heterodyne.secret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secretName }}
      key: {{ .key }}
{{- end }}

{{- define "heterodyne.environment" -}}
- name: HETERODYNE_GATEWAY__HOST
  value: "0.0.0.0"
- name: HETERODYNE_GATEWAY__PORT
  value: "8080"
- name: HETERODYNE_GATEWAY__WORKERS
  value: {{ .Values.workers | quote }}
- name: HETERODYNE_GATEWAY__DRAIN_TIMEOUT_S
  value: {{ .Values.drainTimeoutSeconds | quote }}
- name: HETERODYNE_TELEMETRY__LOG_FORMAT
  value: json
{{- if .Values.tls.secretName }}
- name: HETERODYNE_GATEWAY__TLS_CERTIFICATE
  value: /etc/heterodyne-tls/tls.crt
- name: HETERODYNE_GATEWAY__TLS_KEY
  value: /etc/heterodyne-tls/tls.key
{{- end }}
- name: HETERODYNE_CONSOLE__LISTENS
  value: {{ .Values.console.enabled | quote }}
{{- if .Values.console.enabled }}
- name: HETERODYNE_CONSOLE__HOST
  value: "0.0.0.0"
- name: HETERODYNE_CONSOLE__PORT
  value: "8081"
- name: HETERODYNE_CONSOLE__IS_BEHIND_TLS
  value: "true"
{{ include "heterodyne.secret" (merge (dict "name" "HETERODYNE_CONSOLE__OPERATOR_KEYS_SHA256") .Values.console.operatorKeys) }}
{{- end }}
{{- if .Values.database.secretName }}
{{ include "heterodyne.secret" (merge (dict "name" "HETERODYNE_STORES__URL") .Values.database) }}
{{- end }}
{{- if .Values.redis.secretName }}
{{ include "heterodyne.secret" (merge (dict "name" "HETERODYNE_STORES__REDIS_URL") .Values.redis) }}
{{- end }}
{{- range .Values.env }}
{{ include "heterodyne.secret" . }}
{{- end }}
{{- end }}
