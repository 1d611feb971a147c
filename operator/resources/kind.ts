/** What a custom resource kind is made of, and the parts that all kinds share. */

import { z } from 'zod'
import { type Issue, validate } from '../../services/platform/json/bounded-validation.ts'
import { clauses } from '../../services/platform/sentences/compose.ts'
import { type Sentence, SentenceError, sentence } from '../../services/platform/sentences/sentence.ts'

/** API group of all kinds. */
export const GROUP = 'postwright.dev'
/** Stored version of all kinds, and the one that the operator speaks. */
export const VERSION = 'v1beta1'
/**
 * Versions before, with the same fields: served until a release removes them, and stored no more (ADR 115). Kinds that
 * are younger than a version do not have it.
 */
export const FORMER_VERSIONS = ['v1alpha1'] as const
/** `apiVersion` of every object that the operator reads and writes. */
export const API_VERSION = `${GROUP}/${VERSION}`

/** A rule in the Common Expression Language, checked by the API server (KEP-2876). */
export interface CelRule {
  rule: string
  message: string
  fieldPath?: string
  reason?: 'FieldValueRequired' | 'FieldValueInvalid' | 'FieldValueForbidden'
  /** Evaluate a transition rule on creation too, with `oldSelf` as an optional. */
  optionalOldSelf?: true
}

/** A column of `kubectl get`. Priority 1 shows only with `-o wide`. */
export interface PrinterColumn {
  name: string
  type: 'string' | 'integer' | 'date'
  jsonPath: string
  description?: string
  priority?: 0 | 1
}

/** Attaches rules to a schema; they end up in the CRD as x-kubernetes-validations. */
export function withRules<T extends z.ZodType>(schema: T, ...rules: CelRule[]): T {
  return schema.meta({ 'x-kubernetes-validations': rules }) as T
}

/** A field that keeps its first value. For optional fields add {@link presenceIsFixed} to the parent. */
export function immutable<T extends z.ZodType>(schema: T, name: string): T {
  return withRules(schema, { rule: 'self == oldSelf', message: `${name} cannot be changed` })
}

/**
 * Rule for the parent of an optional immutable field: a transition rule does not fire when the field is added or
 * removed.
 */
export function presenceIsFixed(name: string): CelRule {
  return {
    rule: `has(self.${name}) == has(oldSelf.${name})`,
    message: `${name} cannot be added or removed later`,
    fieldPath: `.${name}`,
  }
}

/** A list that server-side apply treats as a set. */
export function setOf<T extends z.ZodType>(item: T, maxItems: number) {
  return z.array(item).max(maxItems).meta({ 'x-kubernetes-list-type': 'set' })
}

/** A list that is replaced atomically. */
export function listOf<T extends z.ZodType>(item: T, maxItems: number) {
  return z.array(item).max(maxItems).meta({ 'x-kubernetes-list-type': 'atomic' })
}

/** A list whose entries are merged by these keys. */
export function mapOf<T extends z.ZodType>(item: T, maxItems: number, keys: readonly string[]) {
  return z.array(item).max(maxItems).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys })
}

/** Name of an object of the same namespace (RFC 1123 subdomain). */
const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)

/** A reference to an object of the same namespace. */
export function referenceTo(kind: string) {
  return z.object({ name: objectName.describe(`Name of the ${kind} in the same namespace.`) })
}

/** A map from short keys to short values, such as labels; the API server counts its entries. */
export function mapOfTexts(value: z.ZodType<string>, maxProperties: number) {
  return z.record(z.string(), value).meta({ maxProperties })
}

/** A domain name in lower-case A-label form, at least two labels. */
export const domainName = z
  .string()
  .min(3)
  .max(253)
  .regex(/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)

/** A non-negative amount of money with at most two decimals, as a string: YAML floats lose cents. */
export const amount = z
  .string()
  .max(9)
  .regex(/^\d{1,6}(\.\d{1,2})?$/)

/** Networks that a login or token works from; empty: any. */
export const networks = withRules(setOf(z.string().min(3).max(43), 50), {
  rule: 'self.all(c, isCIDR(c))',
  message: 'each entry is a network like 10.0.0.0/8 or 2001:db8::/32',
}).prefault([])

/** A time of the API (RFC 3339). */
export const time = z.string().max(64).meta({ format: 'date-time' })

/** One entry of `status.conditions` (KEP-1623). */
export const condition = z
  .object({
    type: z.string().max(63).describe('What the condition is about, in CamelCase.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds; Unknown: it cannot be determined now.'),
    observedGeneration: z.int().min(0).optional().describe('Generation of the spec that the condition speaks about.'),
    lastTransitionTime: time.describe('When the status of the condition last changed.'),
    reason: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe('One CamelCase word for programs: why the status is as it is.'),
    message: z.string().max(4096).describe('The reason for people: what is wrong and what to do.'),
  })
  .describe('One condition of the current state.')

/** A condition in the status. */
export type Condition = z.output<typeof condition>

/** Fields of every status. */
export const statusFields = {
  observedGeneration: z
    .int()
    .min(-1)
    .optional()
    .describe('Generation of the spec that this status speaks about; -1 until the operator saw the resource.'),
  conditions: mapOf(condition, 16, ['type'])
    .optional()
    .describe(
      'Conditions of the resource. `Ready` sums up the others; `Reconciling` is there while the operator waits or works, `Stalled` while a change by a user is needed.',
    ),
}

/** Name of the Secret that the operator writes; it cannot change, because pods mount it. */
export function secretField(suffix: string) {
  return withRules(
    z.object({
      name: immutable(objectName, 'secret.name')
        .optional()
        .describe(`Name of the Secret; default is the name of this resource and \`-${suffix}\`.`),
    }),
    presenceIsFixed('name'),
  )
    .prefault({})
    .describe('The Secret that the operator writes, with this resource as its owner.')
}

/** The fields of an object's metadata that the operator reads. */
const metadata = z.looseObject({
  name: z.string(),
  /** Empty for a cluster-scoped object. */
  namespace: z.string().default(''),
  uid: z.string(),
  generation: z.int(),
  resourceVersion: z.string(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  finalizers: z.array(z.string()).default([]),
  annotations: z.record(z.string(), z.string()).default({}),
  labels: z.record(z.string(), z.string()).default({}),
})

/** Metadata of an object. */
export type Metadata = z.output<typeof metadata>

/** Input of {@link defineKind}. */
interface KindInput<Spec extends z.ZodType, Status extends z.ZodType> {
  kind: string
  /** Default `Namespaced`. Cluster-scoped kinds are watched only by an operator that watches all namespaces. */
  scope?: 'Cluster'
  plural: string
  shortNames: readonly string[]
  /** Of a kind that was served before {@link VERSION}. */
  formerVersions?: readonly string[]
  description: string
  spec: Spec
  status: Status
  columns: readonly PrinterColumn[]
}

/** A kind: the one source of its type, its CRD and its documentation. */
export interface Kind<Spec = unknown, Status = unknown> {
  kind: string
  scope?: 'Cluster'
  plural: string
  shortNames: readonly string[]
  /** Versions that are served beside {@link VERSION}. */
  formerVersions: readonly string[]
  description: string
  spec: z.ZodType<Spec>
  status: z.ZodType<Status>
  columns: readonly PrinterColumn[]
  /** Parses an object of the API server: defaults applied, unknown fields dropped. */
  parse(object: unknown): Resource<Spec, Status>
}

/** An object of a kind, parsed. */
export interface Resource<Spec = unknown, Status = unknown> {
  kind: string
  metadata: Metadata
  spec: Spec
  status: Status | undefined
}

/** Declares a kind. */
export function defineKind<Spec extends z.ZodType, Status extends z.ZodType>(
  input: KindInput<Spec, Status>,
): Kind<z.output<Spec>, z.output<Status>> {
  return {
    formerVersions: [],
    ...input,
    spec: input.spec as z.ZodType<z.output<Spec>>,
    status: input.status as z.ZodType<z.output<Status>>,
    parse(value) {
      const { metadata, spec, status } = object.parse(value)
      // The status is ours; one of an older release is read as far as it is valid, and rewritten anyway.
      const read = input.status.safeParse(status)
      const known = read.success ? read.data : undefined
      const parsed = validate(input.spec, spec)
      if (!parsed.ok) throw new SpecError(metadata, known, specErrors(parsed.issues))
      return { kind: input.kind, metadata, spec: parsed.data, status: known }
    },
  }
}

/** Each wrong field with its reason: the texts of zod mention types of the implementation. */
function specErrors(issues: readonly Issue[]): Sentence {
  const errors = issues.map(({ path, reason }) =>
    sentence('resource.field_error', { pointer: ['spec', ...path].join('.'), reason }),
  )
  return sentence('resource.spec_invalid', { errors: clauses(errors) })
}

const object = z.object({ metadata, spec: z.unknown(), status: z.unknown().optional() })

/** A spec that this release cannot read: written under a newer CRD, or before a rule was there. */
export class SpecError extends SentenceError {
  readonly metadata: Metadata
  readonly status: unknown
  constructor(of: Metadata, status: unknown, reason: Sentence) {
    super(reason)
    this.metadata = of
    this.status = status
  }
}

/** Columns that every kind ends with. */
export const READY_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
]
