/** Renders templates with the values of a caller: for messages, and for previews. */
import { LRUCache } from 'lru-cache'
import type { Mongo } from '../../platform/database/mongo.ts'
import { ProblemError, refuseFields } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { getTemplate, getVersion } from './manage-templates.ts'
import {
  type ParsedTemplate,
  parseTemplate,
  type RenderedTemplate,
  renderTemplate,
  type TemplateContent,
} from './rendering/render-template.ts'
import { TemplateError } from './rendering/template-error.ts'
import { resolveValues } from './rules/template-values.ts'
import { fromStored, refuseContent } from './stored-content.ts'

/** A template in a request to send. */
export interface TemplateReference {
  /** Id or name. */
  id: string
  /** By default the published one. */
  version?: number | undefined
  variables?: Readonly<Record<string, unknown>> | undefined
}

/** The parts of a message, and which version they were made from. */
export interface RenderedMessage extends RenderedTemplate {
  template: { id: string; version: number }
  /** Given variables that the template does not have; they were ignored. */
  unknown: string[]
}

/** Renders templates of accounts; parsed versions are kept in memory. */
export type RenderPublished = (
  userId: string,
  reference: TemplateReference,
  options?: { subject?: string | undefined },
) => Promise<RenderedMessage>

/** Parsed versions that are kept, and how many characters of source they may have together. */
const CACHE = { max: 200, maxSize: 8 * 1024 * 1024 }

/**
 * One per process. Throws `validation_failed` with a pointer such as `/template/variables/name` for values, and with
 * `/template/id` or `/template/version` for a template that is not there or not published.
 */
export function createRenderPublished({ mongo }: { mongo: Mongo }): RenderPublished {
  const parsed = new LRUCache<string, ParsedTemplate>({
    ...CACHE,
    sizeCalculation: ({ html, text }) => 1_000 + (html?.source.length ?? 0) + (text?.source.length ?? 0),
  })
  return async (userId, { id, version: asked, variables = {} }, options) => {
    const template = await asFieldError('/template/id', () => getTemplate({ mongo }, userId, id))
    const version = asked ?? template.published?.version
    if (version === undefined)
      throw refuseFields([
        { pointer: '/template/id', reason: sentence('detail.template_unpublished', { name: template.name }) },
      ])
    const key = `${template._id}.${version}`
    let ready = parsed.get(key)
    if (!ready) {
      const found = await asFieldError('/template/version', () => getVersion({ mongo }, template, version))
      // It was checked before it was stored, by a release that may have had other limits.
      ready = await refuseTemplate(POINTERS, async () => parseTemplate(fromStored(found.content)))
      parsed.set(key, ready)
    }
    const { rendered, unknown } = await render(ready, variables, POINTERS, options)
    return { ...rendered, template: { id: template._id, version }, unknown }
  }
}

/** Renders a content that need not be stored. Errors point at `/values/<key>`, or at a part. */
export async function previewContent(
  content: TemplateContent,
  values: Readonly<Record<string, unknown>> = {},
): Promise<RenderedTemplate> {
  await refuseContent(content)
  return (await render(parseTemplate(content), values, { values: '/values', part: part => `/${part}` })).rendered
}

/** Where errors are in a request. */
interface Pointers {
  values: string
  part(part: TemplateError['part']): string
}

const POINTERS: Pointers = { values: '/template/variables', part: () => '/template' }

async function render(
  template: ParsedTemplate,
  given: Readonly<Record<string, unknown>>,
  pointers: Pointers,
  options?: { subject?: string | undefined },
): Promise<{ rendered: RenderedTemplate; unknown: string[] }> {
  const { values, errors, unknown } = resolveValues(template.variables, given)
  if (errors.length > 0)
    throw refuseFields(errors.map(({ pointer, reason }) => ({ pointer: pointers.values + pointer, reason })))
  const rendered = await refuseTemplate(pointers, () => renderTemplate(template, values, options))
  return { rendered, unknown }
}

/** An error of the template as one of the request. */
async function refuseTemplate<T>(pointers: Pointers, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw refuseFields([{ pointer: pointers.part(error.part), reason: error.sentence, code: 'template' }])
  }
}

/** What is not found is an error of a field: 404 would be about the operation. */
async function asFieldError<T>(pointer: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'not_found')
      throw refuseFields([{ pointer, reason: error.sentence, code: 'not_found' }])
    throw error
  }
}
