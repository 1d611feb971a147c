{{/* Addresses of a Service by IP family; called with the root. */}}
{{- define "pw.ipFamilies" -}}
{{- with .Values.service.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.service.ipFamilies }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- end }}
