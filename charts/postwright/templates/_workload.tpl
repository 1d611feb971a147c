{{/* A Deployment or StatefulSet of one component with its Service, PDB and autoscaler. Called with a dict:
root, component, values, main, ports (container ports), env, tls, token, kind, serviceName. */}}
{{- define "pw.workload" -}}
{{- $root := .root }}
{{- $name := printf "%s-%s" (include "pw.fullname" $root) .component }}
{{- $auto := .values.autoscaling | default dict }}
{{- $keda := .values.keda | default dict }}
apiVersion: apps/v1
kind: {{ .kind | default "Deployment" }}
metadata:
  name: {{ $name }}
  labels: {{- include "pw.labels" . | nindent 4 }}
spec:
  {{- $scaled := kindIs "invalid" .values.replicas }}
  {{- if not (or $auto.enabled $keda.enabled $scaled) }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels: {{- include "pw.selector" . | nindent 6 }}
  {{- if eq (.kind | default "Deployment") "StatefulSet" }}
  serviceName: {{ .serviceName }}
  podManagementPolicy: Parallel
  {{- else }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  {{- end }}
  template:
    metadata: {{- include "pw.podMeta" . | nindent 6 }}
    spec: {{- include "pw.podSpec" . | nindent 6 }}
{{- if and $root.Values.podDisruptionBudget.enabled (or $scaled (gt (int .values.replicas) 1) $auto.enabled $keda.enabled) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels: {{- include "pw.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "pw.selector" . | nindent 6 }}
{{- end }}
{{- if $auto.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels: {{- include "pw.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: {{ .kind | default "Deployment" }}, name: {{ $name }} }
  minReplicas: {{ $auto.minReplicas }}
  maxReplicas: {{ $auto.maxReplicas }}
  metrics:
    - type: Resource
      resource: { name: cpu, target: { type: Utilization, averageUtilization: {{ $auto.targetCPUUtilizationPercentage }} } }
{{- end }}
{{- end }}
