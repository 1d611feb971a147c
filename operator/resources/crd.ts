/** Turns a kind into its CustomResourceDefinition: a structural schema that the API server enforces. */
import { z } from 'zod'
import { API_VERSION, GROUP, type Kind, VERSION } from './kind.ts'

/** A node of an OpenAPI schema. */
export interface SchemaNode {
  [key: string]: unknown
  type?: string
  description?: string
  properties?: Record<string, SchemaNode>
  items?: SchemaNode
  additionalProperties?: SchemaNode | boolean
  required?: string[]
}

/** Category of all kinds: `kubectl get postwright-all`. It must not equal a kind's name, or kubectl expands that. */
const CATEGORY = 'postwright-all'

/** The CRD of a kind, as plain data. Throws when the schema holds something that the API server would refuse. */
export function toCrd(kind: Kind) {
  const singular = kind.kind.toLowerCase()
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: kind.scope ?? 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular,
        shortNames: [...kind.shortNames],
        categories: [CATEGORY],
      },
      versions: [VERSION, ...kind.formerVersions].map(version => versionOf(kind, version)),
      // All versions have one schema: the API server converts by the apiVersion alone.
      conversion: { strategy: 'None' },
    },
  }
}

/** A served version; only {@link VERSION} is stored, and users of the others are warned by their client. */
function versionOf(kind: Kind, name: string) {
  const storage = name === VERSION
  const deprecationWarning = `${GROUP}/${name} ${kind.kind} is deprecated; use ${API_VERSION}, which has the same fields`
  return {
    name,
    served: true,
    storage,
    ...(storage ? {} : { deprecated: true, deprecationWarning }),
    subresources: { status: {} },
    additionalPrinterColumns: kind.columns.map(column => ({ ...column })),
    schema: { openAPIV3Schema: rootSchema(kind, name) },
  }
}

/** Schema of a complete object of the kind. */
export function rootSchema(kind: Kind, version: string = VERSION): SchemaNode {
  return {
    type: 'object',
    description: kind.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: `${GROUP}/${version}.` },
      kind: { type: 'string', description: `${kind.kind}.` },
      metadata: { type: 'object' },
      spec: { ...openApi(kind.spec, `${kind.kind}.spec`), description: 'Desired state.' },
      status: {
        ...openApi(kind.status, `${kind.kind}.status`),
        description: 'Observed state; written by the operator.',
        // kstatus takes a resource without status for ready: a new one is in progress.
        default: { observedGeneration: -1 },
      },
    },
  }
}

function openApi(schema: z.ZodType, path: string): SchemaNode {
  const node = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as SchemaNode
  delete node.$schema
  return structural(node, path)
}

const FORBIDDEN = ['anyOf', 'oneOf', 'allOf', 'not', '$ref', 'const', 'uniqueItems']

/** Converts to a structural schema as the API server requires: every string and list is bounded, no float, no union. */
function structural({ additionalProperties, properties, items, ...node }: SchemaNode, path: string): SchemaNode {
  const error = structuralError({ ...node, ...(additionalProperties ? { additionalProperties } : {}) })
  if (error) throw new Error(`${path}: ${error}`)
  switch (node.type) {
    case 'boolean':
      return node
    case 'integer':
      return { ...withoutSafeBounds(node), format: 'int64' }
    case 'string':
      return node
    case 'array':
      return { ...node, items: structural(items ?? {}, `${path}[]`) }
    case 'object':
      if (typeof additionalProperties === 'object') return freeMap(node, additionalProperties, path)
      return { ...node, properties: mapValues(properties ?? {}, (child, name) => structural(child, `${path}.${name}`)) }
    default:
      throw new Error(`${path}: type ${node.type ?? 'unknown'} cannot be used`)
  }
}

/** What the API server, or a reader, would not like about a node. */
function structuralError(node: SchemaNode): string | undefined {
  const forbidden = FORBIDDEN.find(key => key in node)
  if (forbidden) return `${forbidden} is not structural`
  if (node.type === 'string' && !('maxLength' in node || 'enum' in node)) return 'a string without maxLength'
  if (node.type === 'array' && !('maxItems' in node && 'x-kubernetes-list-type' in node))
    return 'a list without maxItems or list type'
  if (typeof node.additionalProperties === 'object' && !('maxProperties' in node))
    return 'a free map without maxProperties cannot be used'
  return undefined
}

/** A structural schema cannot say how long keys may be; the API server bounds the whole object. */
function freeMap({ propertyNames: _, ...node }: SchemaNode, values: SchemaNode, path: string): SchemaNode {
  return { ...node, additionalProperties: structural(values, `${path}.*`) }
}

function mapValues<A, B>(object: Record<string, A>, change: (value: A, name: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]))
}

/** zod bounds every integer by the range of a double; such bounds do not help a reader. */
function withoutSafeBounds(node: SchemaNode): SchemaNode {
  const { minimum, maximum, ...rest } = node
  return {
    ...rest,
    ...(minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  }
}
