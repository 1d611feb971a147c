/**
 * Writes what the chart derives from other files: `values.schema.json` and the README table from `values.yaml`, the
 * custom resource definitions and the operator's rights from the code. `--check` only reports outdated files.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { isMap, isNode, isScalar, parseAllDocuments, parseDocument, Scalar, stringify, type YAMLMap } from 'yaml'
import {
  CLUSTER_KIND_RULES,
  DNS_ENDPOINT_RULES,
  KIND_RULES,
  namespaceRules,
  OWN_RULES,
  type Rule,
  WORKLOAD_RULES,
} from '../operator/rbac.ts'
import { API_VERSION, GROUP, VERSION } from '../operator/resources/kind.ts'
import { kinds } from '../operator/resources/kinds.ts'
import { settingSchemas } from '../services/platform/process/setting-schemas.ts'
import { VERSION as RELEASE } from '../services/platform/version.ts'
import { writeGenerated } from './generated-files.ts'
import { entriesOf } from './release/changelog.ts'
import { changesOf } from './release/hub-changes.ts'
import { isPrerelease } from './release/version.ts'

const CHART = 'charts/postwright'

/** A name with a domain, or nothing. */
const HOST_NAME = '^$|^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$'

/** Names of the public SMTP ports. */
const SMTP_PORTS = ['smtp', 'submission', 'submissions', 'alternate']
/** Gateways of a route. */
const PARENT_REFS = { type: 'array', items: { type: 'object', required: ['name'] } }

/** Values with an enumeration, or of another type than their default. */
const REFINED: Record<string, object> = {
  'image.pullPolicy': { enum: ['Always', 'IfNotPresent', 'Never'] },
  'mongodb.mode': { enum: ['external', 'trial'] },
  'mongodb.trial.pullPolicy': { enum: ['Always', 'IfNotPresent', 'Never'] },
  'tls.mode': { enum: ['certManager', 'existingSecret', 'selfSigned'] },
  'smtp.service.type': { enum: ['LoadBalancer', 'NodePort', 'ClusterIP'] },
  'smtp.service.externalTrafficPolicy': { enum: ['Local', 'Cluster'] },
  'inbound.service.type': { enum: ['LoadBalancer', 'NodePort', 'ClusterIP'] },
  'inbound.service.externalTrafficPolicy': { enum: ['Local', 'Cluster'] },
  bounceDomain: { type: 'string', pattern: HOST_NAME },
  'smtp.service.ports': {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: portNames(SMTP_PORTS),
  },
  appBaseUrl: { type: 'string', pattern: '^$|^https?://[^/]+' },
  adminBaseUrl: { type: 'string', pattern: '^$|^https?://[^/]+' },
  trustedProxies: { type: 'array', items: { type: 'string', pattern: '^(private|[0-9a-fA-F:.]+(/[0-9]{1,3})?)$' } },
  mailHostname: { type: 'string', pattern: HOST_NAME },
  config: {
    type: 'object',
    // Closed: a misspelt setting would be ignored. Settings that the chart sets itself are refused with a hint by its templates.
    additionalProperties: false,
    properties: { ...settingSchemas(), ...Object.fromEntries(ownSettings().map(name => [name, {}])) },
  },
  trackingHosts: { type: 'array', items: { type: 'string', pattern: HOST_NAME.replace('^$|', '') } },
  extraEnvFrom: { type: 'array', items: { type: 'object' } },
  extraEnv: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
  extraVolumes: { type: 'array', items: { type: 'object', required: ['name'] } },
  extraVolumeMounts: { type: 'array', items: { type: 'object', required: ['name', 'mountPath'] } },
  extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
  nameOverride: { type: 'string', pattern: '^$|^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$' },
  fullnameOverride: { type: 'string', pattern: '^$|^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$' },
  podSecurityContext: {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      ['runAsUser', 'runAsGroup', 'fsGroup'].map(id => [id, { type: ['integer', 'null'], minimum: 1 }]),
    ),
  },
  'metrics.serviceMonitor.kind': { enum: ['PodMonitor', 'ServiceMonitor'] },
  hostUsers: { type: ['boolean', 'null'] },
  'service.ipFamilyPolicy': { enum: ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'] },
  'service.ipFamilies': { type: 'array', maxItems: 2, items: { enum: ['IPv4', 'IPv6'] } },
  'gateway.parentRefs': PARENT_REFS,
  'gateway.smtp.tlsRoute.parentRefs': PARENT_REFS,
  'gateway.smtp.tcpRoutes': {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(SMTP_PORTS.map(port => [port, PARENT_REFS])),
  },
}

/** Values whose content Kubernetes defines. */
const OPEN =
  /(^|\.)(resources|nodeSelector|affinity|annotations|labels|podAnnotations|podLabels|tolerations|topologySpreadConstraints|relabelings|metricRelabelings)$/
/** Those of them that are lists. */
const OPEN_LIST = /(tolerations|topologySpreadConstraints|[rR]elabelings)$/

const document = parseDocument(readFileSync(`${CHART}/values.yaml`, 'utf8'))
const values = document.contents
if (!isMap(values)) throw new Error('values.yaml is not a mapping')

writeGenerated({
  [`${CHART}/values.schema.json`]: `${JSON.stringify({ $schema: 'https://json-schema.org/draft-07/schema#', ...schemaOf(values, '') }, null, 2)}\n`,
  [`${CHART}/README.md`]: readme(values),
  [`${CHART}/Chart.yaml`]: chartFile(),
  [`${CHART}/files/rbac.yaml`]: `# Generated from operator/rbac.ts.\n${stringify({ leader: rules(OWN_RULES), kinds: rules(KIND_RULES), clusterKinds: rules(CLUSTER_KIND_RULES), namespaces: rules(namespaceRules([])), watched: rules(WORKLOAD_RULES), dnsEndpoints: rules(DNS_ENDPOINT_RULES) })}`,
  [`${CHART}/files/settings.yaml`]: `# Generated from the settings: extraEnv gives none of them a value.\n${stringify(Object.keys(settingSchemas()).sort())}`,
  ...Object.fromEntries(
    readdirSync('crds').map(file => [`${CHART}/files/crds/${file}`, readFileSync(`crds/${file}`, 'utf8')]),
  ),
})

/** Chart.yaml with the annotations of Artifact Hub that follow from definitions, examples and values. */
function chartFile(): string {
  const chart = parseDocument(readFileSync(`${CHART}/Chart.yaml`, 'utf8'))
  const examples = readdirSync('docs/examples')
    .flatMap(file => parseAllDocuments(readFileSync(`docs/examples/${file}`, 'utf8')))
    .map(document => document.toJS() as { apiVersion: string })
    .filter(({ apiVersion }) => apiVersion === API_VERSION)
  const crds = kinds.map(({ kind, plural, description }) => ({
    kind,
    version: VERSION,
    name: `${plural}.${GROUP}`,
    displayName: kind,
    description,
  }))
  const images = [
    { name: 'postwright', image: `ghcr.io/postwright/postwright:${RELEASE}` },
    { name: 'mongodb', image: 'docker.io/library/mongo:8.0' },
  ]
  const entries = entriesOf(readFileSync('CHANGELOG.md', 'utf8'), RELEASE) ?? []
  const generated = { changes: changesOf(entries), crds, crdsExamples: examples, images }
  for (const [name, content] of Object.entries(generated)) {
    const text = new Scalar(stringify(content, { lineWidth: 0 }))
    text.type = Scalar.BLOCK_LITERAL
    chart.setIn(['annotations', `artifacthub.io/${name}`], text)
  }
  const isSecurityUpdate = entries.some(({ category }) => category === 'Security')
  chart.setIn(['annotations', 'artifacthub.io/containsSecurityUpdates'], String(isSecurityUpdate))
  chart.setIn(['annotations', 'artifacthub.io/prerelease'], String(isPrerelease(RELEASE)))
  chart.set('version', RELEASE)
  chart.set('appVersion', RELEASE)
  return chart.toString({ lineWidth: 0 })
}

/** Settings that the templates refuse under `config`, with a hint at the value to use. */
function ownSettings(): string[] {
  const list = /\$owned := dict (?<pairs>.*) }}/.exec(readFileSync(`${CHART}/templates/_helpers.tpl`, 'utf8'))
  return [...(list?.groups?.pairs ?? '').matchAll(/"([A-Z_]+)" "/g)].map(([, name = '']) => name)
}

function rules(list: readonly Rule[]): object[] {
  return list.map(({ apiGroup, resources, verbs }) => ({ apiGroups: [apiGroup], resources, verbs }))
}

function portNames(names: readonly string[]): object {
  return Object.fromEntries(names.map(name => [name, { type: 'integer', minimum: 1, maximum: 65_535 }]))
}

function schemaOf(node: unknown, path: string): object {
  const refined = REFINED[path]
  if (path.endsWith('.replicas')) return { type: ['integer', 'null'], minimum: 0 }
  if (refined) return refined
  if (OPEN.test(path)) return OPEN_LIST.test(path) ? { type: 'array', items: { type: 'object' } } : { type: 'object' }
  if (isMap(node)) {
    const properties = Object.fromEntries(
      pairs(node).map(([key, value]) => [key, schemaOf(value, path ? `${path}.${key}` : key)]),
    )
    // Helm passes `global` to every chart.
    return {
      type: 'object',
      additionalProperties: false,
      properties: path ? properties : { ...properties, global: { type: 'object' } },
    }
  }
  const value: unknown = isScalar(node) ? node.value : []
  if (Array.isArray(value)) return { type: 'array', items: { type: 'string' } }
  if (typeof value === 'number') return { type: 'integer', minimum: 0 }
  return { type: typeof value }
}

function readme(root: YAMLMap): string {
  const rows = describe(root, '')
  return [
    '# Postwright chart',
    '',
    '<!-- Generated by `npm run docs`; changes here are lost. -->',
    '',
    'Installation, sizing and upgrades: [docs/install.md](../../docs/install.md).',
    '',
    '| value | default | meaning |',
    '|---|---|---|',
    ...rows.map(([name, value, meaning]) => `| \`${name}\` | \`${value}\` | ${meaning.replaceAll('|', '\\|')} |`),
    '',
  ].join('\n')
}

/** One row for each value that is not a block of values; the comment above it is its meaning. */
function describe(map: YAMLMap, path: string): [string, string, string][] {
  return map.items.flatMap((pair, index): [string, string, string][] => {
    const key = String(isScalar(pair.key) ? pair.key.value : pair.key)
    const name = path ? `${path}.${key}` : key
    if (isBlock(pair.value, name)) return describe(pair.value, name)
    // The parser attaches the comment above the first entry to the mapping.
    const own = isScalar(pair.key) ? pair.key.commentBefore : undefined
    return [
      [
        name,
        JSON.stringify(toJson(pair.value)),
        meaningOf(own ?? (index === 0 && path ? map.commentBefore : undefined)),
      ],
    ]
  })
}

function isBlock(value: unknown, name: string): value is YAMLMap {
  return isMap(value) && value.items.length > 0 && !value.flow && !OPEN.test(name)
}

function meaningOf(comment: string | null | undefined): string {
  return (
    (comment ?? '')
      .split('\n\n')
      .at(-1)
      ?.replaceAll(/\s*\n\s*/g, ' ')
      .trim() ?? ''
  )
}

function toJson(node: unknown): unknown {
  return isNode(node) ? node.toJSON() : node
}

function pairs(map: YAMLMap): [string, unknown][] {
  return map.items.map(item => [String(isScalar(item.key) ? item.key.value : item.key), item.value])
}
