/** The content of a template between its stored form and that of its users. */
import { refuseFields } from '../../platform/problems.ts'
import type { FieldError } from '../../platform/sentences/field-error.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { findTemplateErrors } from './rendering/check-template.ts'
import type { TemplateContent } from './rendering/render-template.ts'
import { findDefaultError, isVariableKey } from './rules/template-values.ts'
import type { StoredContent } from './store/templates.ts'

/** The form that is stored. */
export function toStored({ subject, html, text, variables }: TemplateContent): StoredContent {
  return {
    subject,
    ...(html !== undefined && { html }),
    ...(text !== undefined && { text }),
    variables: JSON.stringify(variables),
  }
}

/** The content of a stored draft or version. */
export function fromStored({ subject, html, text, variables }: StoredContent): TemplateContent {
  return {
    subject,
    ...(typeof html === 'string' && { html }),
    ...(typeof text === 'string' && { text }),
    variables: JSON.parse(variables),
  }
}

/** Throws `validation_failed` with every error of a content that cannot be rendered as it is. */
export async function refuseContent(content: TemplateContent): Promise<void> {
  const errors = [...findVariableErrors(content), ...(await findTemplateErrors(content))]
  if (content.html === undefined && content.text === undefined)
    errors.push({ pointer: '/html', reason: sentence('field.template_body'), code: 'missing' })
  if (errors.length > 0) throw refuseFields(errors)
}

function findVariableErrors({ variables }: TemplateContent): FieldError[] {
  const keys = new Set<string>()
  return variables.flatMap((variable, index): FieldError[] => {
    const pointer = `/variables/${index}`
    const known = keys.has(variable.key)
    keys.add(variable.key)
    if (!isVariableKey(variable.key)) return [{ pointer: `${pointer}/key`, reason: sentence('field.template_key') }]
    if (known) return [{ pointer: `${pointer}/key`, reason: sentence('field.unique') }]
    const wrong = findDefaultError(variable)
    return wrong ? [{ pointer: `${pointer}/default`, reason: wrong }] : []
  })
}
