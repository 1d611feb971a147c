/**
 * Writes what the chart derives from other files: `values.schema.json` and the README table from `values.yaml`, the
 * custom resource definitions and the operator's rights from the code. `--check` only reports outdated files.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { isMap, isNode, isScalar, parseDocument, stringify, type YAMLMap } from 'yaml'
import { KIND_RULES, namespaceRules, OWN_RULES, type Rule, WORKLOAD_RULES } from '../operator/rbac.ts'
import { settingSchemas } from '../services/platform/process/setting-schemas.ts'
import { writeGenerated } from './generated-files.ts'

const CHART = 'charts/postwright'

/** A name with a domain, or nothing. */
const HOST_NAME = '^$|^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$'

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
    properties: portNames(['smtp', 'submission', 'submissions', 'alternate']),
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
  'gateway.parentRefs': { type: 'array', items: { type: 'object', required: ['name'] } },
}

/** Values whose content Kubernetes defines. */
const OPEN = /(^|\.)(resources|nodeSelector|annotations|labels|podAnnotations|tolerations)$/

const document = parseDocument(readFileSync(`${CHART}/values.yaml`, 'utf8'))
const values = document.contents
if (!isMap(values)) throw new Error('values.yaml is not a mapping')

writeGenerated({
  [`${CHART}/values.schema.json`]: `${JSON.stringify({ $schema: 'https://json-schema.org/draft-07/schema#', ...schemaOf(values, '') }, null, 2)}\n`,
  [`${CHART}/README.md`]: readme(values),
  [`${CHART}/files/rbac.yaml`]: `# Generated from operator/rbac.ts.\n${stringify({ leader: rules(OWN_RULES), kinds: rules(KIND_RULES), namespaces: rules(namespaceRules([])), watched: rules(WORKLOAD_RULES) })}`,
  ...Object.fromEntries(
    readdirSync('crds').map(file => [`${CHART}/files/crds/${file}`, readFileSync(`crds/${file}`, 'utf8')]),
  ),
})

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
  if (OPEN.test(path)) return { type: path.endsWith('tolerations') ? 'array' : 'object' }
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
