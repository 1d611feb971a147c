/** The content that a Template declares, with the parts that ConfigMaps hold. */
import { TEMPLATE_LIMITS } from '../../../services/mail/templates/rules/template-limits.ts'
import type { TemplateVariable } from '../../../services/mail/templates/rules/template-values.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { Template } from '../../resources/template.ts'
import { bad, type ConditionState } from '../shared/conditions.ts'
import type { OperatorContext } from '../shared/operator-context.ts'

/** ConfigMaps are not watched, so that no right to list them is needed: they are read again after this time. */
export const CONFIG_MAP_MS = 60_000

/** Subject, parts and variables in the form of the use case. */
export interface DeclaredContent {
  subject: string
  html?: string
  text?: string
  variables: TemplateVariable[]
}

/** Reads the content, or says why that is not possible yet. */
export async function contentOf(
  context: Pick<OperatorContext, 'writer'>,
  { spec, metadata }: Pick<Template, 'spec' | 'metadata'>,
): Promise<DeclaredContent | { condition: ConditionState }> {
  const variables: TemplateVariable[] = []
  for (const variable of spec.variables) {
    const preset = defaultOf(variable)
    if ('invalid' in preset)
      return {
        condition: bad('Accepted', 'InvalidSpec', sentence('resource.variable_default', { name: variable.key })),
      }
    const { key, type, required } = variable
    variables.push({ key, type, ...preset, ...(required && { required }) })
  }
  const html = await readPart(context, metadata.namespace, spec.html, spec.htmlFrom)
  if (typeof html === 'object') return html
  const text = await readPart(context, metadata.namespace, spec.text, spec.textFrom)
  if (typeof text === 'object') return text
  return { subject: spec.subject, ...(html !== undefined && { html }), ...(text !== undefined && { text }), variables }
}

type Source = Template['spec']['htmlFrom']

async function readPart(
  { writer }: Pick<OperatorContext, 'writer'>,
  namespace: string,
  own: string | undefined,
  from: Source,
): Promise<string | undefined | { condition: ConditionState }> {
  if (!from) return own
  const { name, key } = from.configMapKeyRef
  const found = await writer.readConfigMap({ namespace, name })
  const refuse = (message: Parameters<typeof bad>[2]) => ({ condition: bad('Accepted', 'ConfigMapNotFound', message) })
  if (!found) return refuse(sentence('resource.config_map_missing', { name }))
  const value = Object.entries(found.data ?? {}).find(([known]) => known === key)?.[1]
  return value ?? refuse(sentence('resource.config_map_key_missing', { name, key }))
}

/** The default of a variable, which the resource has as text. */
function defaultOf({
  type,
  default: given,
}: Template['spec']['variables'][number]): { default?: unknown } | { invalid: true } {
  if (given === undefined) return {}
  if (type === 'string') return { default: given }
  if (type === 'number') return { default: Number(given) }
  if (type === 'boolean') return { default: given === 'true' }
  try {
    const list: unknown = JSON.parse(given)
    return Array.isArray(list) && list.length <= TEMPLATE_LIMITS.entries ? { default: list } : { invalid: true }
  } catch {
    return { invalid: true }
  }
}

/** Name of the field of the spec that a JSON pointer of the use case is about. */
export function fieldOf({ spec }: Pick<Template, 'spec'>, pointer: string): string {
  const [, part = '', index, rest] = pointer.split('/')
  if (part === 'name') return 'spec.templateName'
  if (part === 'variables') return `spec.variables[${index ?? ''}]${rest === undefined ? '' : `.${rest}`}`
  const from = part === 'html' ? spec.htmlFrom : part === 'text' ? spec.textFrom : undefined
  if (!from) return `spec.${part}`
  const { name, key } = from.configMapKeyRef
  return `ConfigMap ${name}, ${key}:`
}
