/** Puts the rendered parts of a template into a request that names one. */
import type { RenderPublished } from '../templates/render-published.ts'
import type { EmailRequest, Warning } from './rules/email-request.ts'
import type { Submission } from './submission.ts'

/** A request with its parts. */
export interface FilledRequest {
  request: EmailRequest
  /** What the parts were made from; undefined for those of the caller. */
  template?: Submission['template']
  warnings: Warning[]
}

/** Most variables that are named in warnings. */
const MAX_WARNINGS = 20

/** Renders the template of a request; without one the request stays as it is. Throws `validation_failed`. */
export async function fillTemplate(
  given: EmailRequest,
  userId: string,
  renderPublished: RenderPublished,
): Promise<FilledRequest> {
  const { template: named, ...request } = given
  if (!named) return { request: given, warnings: [] }
  const { id, name, version, variables } = named
  const reference = { id: id ?? name ?? '', version, variables }
  const { subject, html, text, template, unknown } = await renderPublished(userId, reference, {
    subject: request.subject,
  })
  const warnings = unknown.slice(0, MAX_WARNINGS).map(key => ({
    code: 'unknown_field' as const,
    field: `template/variables/${key}`.slice(0, 64),
    message: 'The template has no such variable; it was ignored.',
  }))
  return { request: { ...request, subject, html, text }, template, warnings }
}

/** Characters that a template added to a request. */
export function renderedSize({ request, template }: FilledRequest): number {
  return template ? (request.html?.length ?? 0) + (request.text?.length ?? 0) : 0
}
