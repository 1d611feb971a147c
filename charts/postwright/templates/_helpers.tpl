{{/* Releases may have dots in their names, Services not; the longest name, that of a StatefulSet, may have 52 characters,
because its pods carry it in a label, followed by the hash of their revision. Without the trial's database the longest
is shorter, and releases of up to 36 characters keep the names that they always had. */}}
{{- define "pw.fullname" -}}
{{- $name := .Release.Name | replace "." "-" }}
{{- $chart := .Values.nameOverride | default "postwright" }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}{{ else if contains $chart $name }}{{ $name | trunc 40 | trimSuffix "-" }}{{ else }}{{ $most := and (ne .Values.mongodb.mode "trial") (le (len $name) 36) | ternary 36 33 }}{{ $name | trunc (int (sub (add $most 10) (len $chart))) | trimSuffix "-" }}-{{ $chart }}{{ end }}
{{- end }}
{{- define "pw.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
{{- define "pw.selector" -}}
app.kubernetes.io/name: postwright
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- define "pw.labels" -}}
{{ include "pw.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: postwright
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}
{{/* The account of all pods but the operator's. */}}
{{- define "pw.serviceAccount" -}}{{ .Values.serviceAccount.name | default (ternary (include "pw.fullname" .) "default" .Values.serviceAccount.create) }}{{- end }}
{{- define "pw.operatorAccount" -}}{{ .Values.operator.serviceAccount.name | default (ternary (printf "%s-operator" (include "pw.fullname" .)) "default" .Values.operator.serviceAccount.create) }}{{- end }}
{{- define "pw.secretName" -}}{{ .Values.secrets.existingSecret | default (printf "%s-secrets" (include "pw.fullname" .)) }}{{- end }}
{{- define "pw.tlsSecret" -}}
{{- if eq .Values.tls.mode "existingSecret" }}{{ required "tls.existingSecret is required with tls.mode=existingSecret" .Values.tls.existingSecret }}{{ else }}{{ include "pw.fullname" . }}-tls{{ end }}
{{- end }}
{{/* Not empty when the Job has a Secret to create. */}}
{{- define "pw.needsBootstrap" -}}{{ if or (not .Values.secrets.existingSecret) (eq .Values.tls.mode "selfSigned") }}yes{{ end }}{{- end }}
{{- define "pw.smtpService" -}}{{ include "pw.fullname" . }}-smtp{{- end }}
{{- define "pw.mongoService" -}}{{ include "pw.fullname" . }}-mongodb{{- end }}

{{/* Image of the trial database: the chosen one, else that of the existing database, else a maintained release. */}}
{{- define "pw.mongoImage" -}}
{{- if .Values.mongodb.trial.image }}{{ .Values.mongodb.trial.image }}
{{- else }}
{{- $image := "docker.io/library/mongo:8.0" }}
{{- $existing := lookup "apps/v1" "StatefulSet" .Release.Namespace (include "pw.mongoService" .) }}
{{- range (dig "spec" "template" "spec" "containers" (list) $existing) }}
{{- if eq .name "mongodb" }}{{ $image = .image }}{{ end }}
{{- end }}
{{- $image }}
{{- end }}
{{- end }}

{{/* Refuses contradictory values. */}}
{{- define "pw.validate" -}}
{{- if not .Values.mailHostname }}{{ fail "mailHostname is required: the public host name of this installation, as in mail.example.com" }}{{ end }}
{{- if and (eq .Values.mongodb.mode "external") (not .Values.mongodb.uri) (not .Values.mongodb.existingSecret) (not .Values.secrets.existingSecret) }}{{ fail "mongodb.mode=external needs mongodb.existingSecret (a Secret with the key MONGODB_URI) or mongodb.uri; to try it out set mongodb.mode=trial" }}{{ end }}
{{- if and .Values.operator.enabled (eq (include "pw.serviceAccount" .) (include "pw.operatorAccount" .)) (or .Values.serviceAccount.create .Values.operator.serviceAccount.create) }}{{ fail "serviceAccount.name and operator.serviceAccount.name are the same: every pod would have the rights of the operator; choose two names" }}{{ end }}
{{- if and .Values.mongodb.uri .Values.mongodb.existingSecret }}{{ fail "mongodb.uri and mongodb.existingSecret exclude each other: set one" }}{{ end }}
{{- if eq .Values.mongodb.mode "trial" }}
{{- if or .Values.mongodb.uri .Values.mongodb.existingSecret }}{{ fail "mongodb.mode=trial uses neither mongodb.uri nor mongodb.existingSecret: set mongodb.mode=external, or leave both empty" }}{{ end }}
{{- if .Values.secrets.existingSecret }}{{ fail "mongodb.mode=trial needs the Secret that the Job makes: leave secrets.existingSecret empty" }}{{ end }}
{{- end }}
{{- if and .Values.worker.keda.enabled .Values.mongodb.uri }}{{ fail "worker.keda.enabled needs the connection string in a Secret: set mongodb.existingSecret instead of mongodb.uri" }}{{ end }}
{{- if and .Values.tls.existingSecret (ne .Values.tls.mode "existingSecret") }}{{ fail (printf "tls.existingSecret is set, but tls.mode is %s: set tls.mode=existingSecret" .Values.tls.mode) }}{{ end }}
{{- if and .Values.tls.certManager.issuerRef.name (ne .Values.tls.mode "certManager") }}{{ fail (printf "tls.certManager.issuerRef.name is set, but tls.mode is %s: set tls.mode=certManager" .Values.tls.mode) }}{{ end }}
{{- if and .Values.operator.enabled (not .Values.operator.serviceAccount.create) (not .Values.operator.serviceAccount.name) }}{{ fail "operator.serviceAccount.create=false needs operator.serviceAccount.name: else the account `default`, which other pods use, gets the operator's rights" }}{{ end }}
{{- if and .Values.gateway.smtp.tlsRoute.parentRefs (not (hasKey .Values.smtp.service.ports "submissions")) }}{{ fail "gateway.smtp.tlsRoute needs smtp.service.ports.submissions" }}{{ end }}
{{- range $name, $refs := .Values.gateway.smtp.tcpRoutes }}
{{- if not (hasKey $.Values.smtp.service.ports $name) }}{{ fail (printf "gateway.smtp.tcpRoutes.%s: smtp.service.ports has no such port" $name) }}{{ end }}
{{- end }}
{{- $seen := dict }}
{{- range $name, $port := .Values.smtp.service.ports }}
{{- $number := int $port | toString }}
{{- if and (eq $name "submissions") (ne $number "465") }}{{ fail "smtp.service.ports.submissions must be 465: on other ports users are instructed to use STARTTLS" }}{{ end }}
{{- if and (ne $name "submissions") (eq $number "465") }}{{ fail (printf "smtp.service.ports.%s cannot be 465: users are instructed to use implicit TLS there" $name) }}{{ end }}
{{- if hasKey $seen $number }}{{ fail (printf "smtp.service.ports: %s is used twice" $number) }}{{ end }}
{{- $_ := set $seen $number $name }}
{{- end }}
{{- if and .Values.operator.enabled (ne (int (dig "submission" 0 .Values.smtp.service.ports)) 587) }}{{ fail "smtp.service.ports.submission must be 587: the operator writes it into the Secrets of SMTPCredentials" }}{{ end }}
{{- if and .Values.smtp.proxyProtocol.enabled (not .Values.smtp.proxyProtocol.trustedCIDRs) }}{{ fail "smtp.proxyProtocol.enabled needs smtp.proxyProtocol.trustedCIDRs: without them anybody could claim any client address" }}{{ end }}
{{- if and (eq .Values.tls.mode "certManager") (not .Values.tls.certManager.issuerRef.name) }}{{ fail "tls.mode=certManager needs tls.certManager.issuerRef.name" }}{{ end }}
{{- if and (not .Values.compat.enabled) (or .Values.ingress.compatHost .Values.gateway.compatHost) }}{{ fail "ingress.compatHost and gateway.compatHost need compat.enabled" }}{{ end }}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) }}{{ fail "gateway.enabled needs gateway.parentRefs" }}{{ end }}
{{- $proxies := .Values.config.TRUSTED_PROXIES | default "" | toString }}
{{- if and .Values.trustedProxies $proxies }}{{ fail "trustedProxies and config.TRUSTED_PROXIES exclude each other: set trustedProxies" }}{{ end }}
{{- if and (or .Values.ingress.enabled .Values.gateway.enabled) (not .Values.trustedProxies) (not $proxies) }}{{ fail (include "pw.proxiesMissing" .) }}{{ end }}
{{- if and .Values.worker.keda.enabled .Values.worker.autoscaling.enabled }}{{ fail "worker.keda and worker.autoscaling exclude each other: enable one" }}{{ end }}
{{- $owned := dict "MAIL_HOSTNAME" "mailHostname" "APP_BASE_URL" "appBaseUrl" "ADMIN_BASE_URL" "adminBaseUrl" "SENDING_IP" "sendingIp" "BOUNCE_DOMAIN" "bounceDomain" "INBOUND_LISTEN" "" "SUBMISSION_PORTS" "smtp.service.ports" "SUBMISSION_PROXY_FROM" "smtp.proxyProtocol" "SUBMISSION_TLS_CERT" "tls" "SUBMISSION_TLS_KEY" "tls" "SUBMISSION_CA_FILE" "tls" "MONGODB_URI" "mongodb.existingSecret" "SESSION_SECRET" "secrets.existingSecret" "ADMIN_USERNAME" "secrets.existingSecret" "ADMIN_PASSWORD" "secrets.existingSecret" "WATCH_NAMESPACES" "operator.watchNamespaces" "DNS_ENDPOINTS" "operator.dnsEndpoints" "OPERATOR_NAMESPACE" "" "OPERATOR_IDENTITY" "" "SUBMISSION_LISTEN" "" "APP_HOST" "" "APP_PORT" "" "ADMIN_API_PORT" "" "COMPAT_PORT" "" "METRICS_PORT" "" }}
{{- range $name, $value := .Values.config }}
{{- if hasKey $owned $name }}{{ fail (get $owned $name | empty | ternary (printf "config.%s cannot be set: inside of the pods the chart decides it" $name) (printf "config.%s cannot be set: use %s" $name (get $owned $name))) }}{{ end }}
{{- end }}
{{- $settings := .Files.Get "files/settings.yaml" | fromYamlArray }}
{{- range .Values.extraEnv }}
{{- if not (regexMatch "^[A-Za-z_][A-Za-z0-9_]*$" .name) }}{{ fail (printf "extraEnv: %s is not a name of a variable" .name) }}{{ end }}
{{- if hasKey $.Values.config .name }}{{ fail (printf "extraEnv and config both set %s: set one" .name) }}{{ end }}
{{- if hasKey $owned .name }}{{ fail (get $owned .name | empty | ternary (printf "extraEnv cannot set %s: inside of the pods the chart decides it" .name) (printf "extraEnv cannot set %s: use %s" .name (get $owned .name))) }}{{ end }}
{{- if and (has .name $settings) (not .valueFrom) }}{{ fail (printf "extraEnv cannot set %s to a value: use config.%s, which is checked; valueFrom may take it from a Secret" .name .name) }}{{ end }}
{{- end }}
{{- if and .Release.IsUpgrade (not .Values.secrets.existingSecret) (not (lookup "v1" "Secret" .Release.Namespace (include "pw.secretName" .))) (lookup "v1" "Namespace" "" .Release.Namespace) }}{{ fail (printf "the Secret %s is gone: it holds the key that opens stored DKIM keys and passwords. Restore it; a new one would lose them" (include "pw.secretName" .)) }}{{ end }}
{{- end }}

{{/* The chart does not detect the networks: under GitOps helm cannot read the cluster. */}}
{{- define "pw.proxiesMissing" -}}
trustedProxies is required with {{ ternary "ingress" "gateway" .Values.ingress.enabled }}.enabled: the networks that its pods connect from, as in --set 'trustedProxies={10.244.0.0/16}'. Without them every client seems to have the proxy's address, and a few wrong passwords lock everybody out. `kubectl get pods -A -o wide` shows the addresses of your {{ ternary "ingress controller" "gateway" .Values.ingress.enabled }}, `kubectl get nodes -o jsonpath='{.items[*].spec.podCIDR}'` the networks of pods in many clusters. If networkPolicy.ingressFromNamespaces lets in nobody else, trustedProxies={private} will do
{{- end }}

{{/* In the order of the names: the order of the function "values" is random. */}}
{{- define "pw.publicPorts" -}}
{{- $ports := list }}{{ range $name, $port := .Values.smtp.service.ports }}{{ $ports = append $ports $port }}{{ end }}{{ join "," $ports }}
{{- end }}

{{- define "pw.host" -}}{{ .Values.ingress.host | default ((.Values.appBaseUrl | default (printf "https://%s" .Values.mailHostname) | urlParse).hostname | lower) }}{{- end }}

{{- define "pw.env" -}}
- { name: APP_HOST, value: "0.0.0.0" }
- { name: MAIL_HOSTNAME, value: {{ .Values.mailHostname | quote }} }
- { name: APP_BASE_URL, value: {{ .Values.appBaseUrl | default (printf "https://%s" .Values.mailHostname) | quote }} }
{{- with .Values.adminBaseUrl }}
- { name: ADMIN_BASE_URL, value: {{ . | quote }} }
{{- end }}
{{- with .Values.bounceDomain }}
- { name: BOUNCE_DOMAIN, value: {{ . | quote }} }
{{- end }}
{{- with .Values.sendingIp }}
- { name: SENDING_IP, value: {{ . | quote }} }
{{- end }}
- { name: SUBMISSION_HOST, value: {{ dig "SUBMISSION_HOST" .Values.mailHostname .Values.config | quote }} }
- { name: SUBMISSION_PORTS, value: {{ include "pw.publicPorts" . | quote }} }
{{- with .Values.trustedProxies }}
- { name: TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- if .Values.smtp.proxyProtocol.enabled }}
- { name: SUBMISSION_PROXY_FROM, value: {{ join "," .Values.smtp.proxyProtocol.trustedCIDRs | quote }} }
{{- end }}
{{- range $name, $value := omit .Values.config "SUBMISSION_HOST" }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- range $key := list "SESSION_SECRET" "ADMIN_USERNAME" "ADMIN_PASSWORD" }}
- name: {{ $key }}
  valueFrom: { secretKeyRef: { name: {{ include "pw.secretName" $ }}, key: {{ $key }} } }
{{- end }}
{{- if eq .Values.mongodb.mode "trial" }}
- name: MONGODB_URI
  valueFrom: { secretKeyRef: { name: {{ include "pw.secretName" . }}, key: MONGODB_URI } }
{{- else if .Values.mongodb.uri }}
- { name: MONGODB_URI, value: {{ .Values.mongodb.uri | quote }} }
{{- else }}
- name: MONGODB_URI
  valueFrom: { secretKeyRef: { name: {{ .Values.mongodb.existingSecret | default (include "pw.secretName" .) }}, key: MONGODB_URI } }
{{- end }}
{{- end }}

{{/* Pod Security "restricted". */}}
{{- define "pw.podSecurity" -}}
runAsNonRoot: true
{{- range $key, $id := .Values.podSecurityContext | default dict }}
{{- if not (kindIs "invalid" $id) }}
{{ $key }}: {{ int64 $id }}
{{- end }}
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end }}
{{/* Not empty when the ids are chosen here, and not by the platform. */}}
{{- define "pw.choosesUser" -}}{{ if not (kindIs "invalid" (dig "runAsUser" nil (.Values.podSecurityContext | default dict))) }}yes{{ end }}{{- end }}
{{- define "pw.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
{{- if include "pw.choosesUser" . }}
runAsUser: {{ int64 .Values.podSecurityContext.runAsUser }}
{{- end }}
capabilities: { drop: [ALL] }
{{- end }}

{{/* Labels and annotations of the template of a pod; called as pw.labels. */}}
{{- define "pw.podMeta" -}}
labels: {{- merge (include "pw.labels" . | fromYaml) .root.Values.podLabels | toYaml | nindent 2 }}
{{- with .root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What every pod has, that of the trial database, of the Job and of `helm test` too; called with the root. */}}
{{- define "pw.podCommon" -}}
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- if not (kindIs "invalid" .Values.hostUsers) }}
hostUsers: {{ .Values.hostUsers }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Nodes of a pod; called with the values of its component. */}}
{{- define "pw.nodes" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Common pod spec: spread over hosts and zones, no token unless requested, probes on the metrics port. */}}
{{- define "pw.podSpec" -}}
{{- $values := .values }}
{{- include "pw.podCommon" .root }}
serviceAccountName: {{ .serviceAccount }}
automountServiceAccountToken: {{ .token | default false }}
securityContext: {{- include "pw.podSecurity" .root | nindent 2 }}
terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds | default 60 }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- else }}
topologySpreadConstraints:
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "pw.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- else }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "pw.selector" $ | nindent 14 }}
{{- end }}
{{- with include "pw.nodes" $values | trim }}
{{ . }}
{{- end }}
containers:
  - name: {{ .component }}
    image: {{ include "pw.image" .root }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: [{{ .main }}]
    env: {{- include "pw.env" .root | nindent 6 }}
      {{- range $name, $value := .env }}
      - { name: {{ $name }}, value: {{ $value | quote }} }
      {{- end }}
      {{- with .root.Values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- with .root.Values.extraEnvFrom }}
    envFrom: {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      - { name: metrics, containerPort: 9464 }
      {{- range .ports }}
      - {{ toJson . }}
      {{- end }}
    startupProbe:
      httpGet: { path: /healthz, port: metrics }
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /healthz, port: metrics }
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    readinessProbe:
      httpGet: { path: /readyz, port: metrics }
      periodSeconds: 3
      timeoutSeconds: 3
    lifecycle:
      # Endpoints forget the pod before it stops listening; the image has no shell tools to rely on.
      preStop: { sleep: { seconds: 5 } }
    resources: {{- toYaml $values.resources | nindent 6 }}
    securityContext: {{- include "pw.containerSecurity" .root | nindent 6 }}
    volumeMounts:
      - { name: tmp, mountPath: /tmp }
      {{- if .tls }}
      - { name: tls, mountPath: /tls, readOnly: true }
      {{- end }}
      {{- with .root.Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - { name: tmp, emptyDir: { sizeLimit: 64Mi } }
  {{- if .tls }}
  - { name: tls, secret: { secretName: {{ include "pw.tlsSecret" .root }} } }
  {{- end }}
  {{- with .root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
