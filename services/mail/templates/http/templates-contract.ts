/** The operations on templates. */
import { z } from 'zod'
import { pageOf, pageQuery } from '../../../platform/cursor-pages.ts'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../../platform/ordered-pages.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import type { Access } from '../../http/shared/access.ts'
import { managedBy } from '../../http/shared/records.ts'
import { TEMPLATE_LIMITS } from '../rules/template-limits.ts'
import { isTemplateName, RESERVED_NAME, TEMPLATE_NAME } from '../rules/template-name.ts'

const READ: Access = { kind: 'account', scope: 'templates:read' }
const WRITE: Access = { kind: 'account', scope: 'templates:write' }
/** Both parts, escaped for JSON. */
const BODY_BYTES = 3 * 1024 * 1024
const time = z.iso.datetime()

const name = z
  .string()
  .max(TEMPLATE_LIMITS.name, { abort: true })
  .regex(TEMPLATE_NAME, reason('field.template_name'))
  .refine(isTemplateName, reason('field.template_name'))
  .meta({
    not: { pattern: RESERVED_NAME.source },
    description: 'Unique in the account; may be used in place of the id.',
  })

const part = (bytes: number) =>
  z
    .string()
    .refine(value => Buffer.byteLength(value) <= bytes, {
      message: reason('field.too_many_bytes'),
      params: { count: bytes },
    })
    .meta({ maxLength: bytes, description: `At most ${bytes} bytes of UTF-8.` })

const subject = z.string().max(TEMPLATE_LIMITS.subject)
const html = part(TEMPLATE_LIMITS.htmlBytes)
const text = part(TEMPLATE_LIMITS.textBytes)

const variable = z
  .strictObject({
    key: z.string().min(1).max(64),
    type: z.enum(['string', 'number', 'boolean', 'list']).default('string'),
    default: z
      .unknown()
      .meta({
        anyOf: [
          ...['string', 'number', 'boolean'].map(type => ({ type })),
          { type: 'array', items: { type: ['string', 'number', 'boolean', 'object'] } },
        ],
        description: 'Used when a message gives no value; of the type of the variable.',
      })
      .optional(),
    required: z.boolean().optional().describe('A message without a value, or a default, is refused.'),
  })
  .meta({ id: 'TemplateVariableInput' })

const shownVariable = variable
  .extend({ type: z.enum(['string', 'number', 'boolean', 'list']) })
  .meta({ id: 'TemplateVariable' })

const variables = z.array(variable).max(TEMPLATE_LIMITS.variables)

/** Values of variables by their keys. */
const values = z
  .record(z.string().max(64), z.unknown())
  .meta({ maxProperties: TEMPLATE_LIMITS.variables * 2 })
  .optional()

const summary = z
  .strictObject({
    object: z.literal('template'),
    id: z.string(),
    name: z.string(),
    subject: z.string().describe('Of the draft.'),
    revision: z.number().int().describe('Counts the changes of the draft; a change names the one it was made from.'),
    version: z.number().int().nullable().describe('The published version, which is sent; null: none yet.'),
    published_at: time.nullable(),
    has_changes: z.boolean().describe('The draft is not what is published.'),
    managed_by: managedBy.nullable().describe('The Kubernetes resource that manages it.'),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'TemplateSummary' })

/** A template with its draft. */
export const template = summary
  .extend({ html: z.string().nullable(), text: z.string().nullable(), variables: z.array(shownVariable) })
  .meta({ id: 'Template' })

const versionSummary = z
  .strictObject({
    object: z.literal('template_version'),
    template_id: z.string(),
    version: z.number().int(),
    subject: z.string(),
    published_at: time,
    published_by: z.string(),
    rolled_back_to: z.number().int().nullable().describe('The version whose content was published again.'),
  })
  .meta({ id: 'TemplateVersionSummary' })

/** A published version with its content. */
export const templateVersion = versionSummary
  .extend({ html: z.string().nullable(), text: z.string().nullable(), variables: z.array(shownVariable) })
  .meta({ id: 'TemplateVersion' })

const preview = z
  .strictObject({
    object: z.literal('template_preview'),
    subject: z.string(),
    html: z.string().nullable(),
    text: z.string(),
    text_is_derived: z.boolean().describe('The template has no text; this one was made from the html.'),
    frame: z
      .string()
      .nullable()
      .describe(
        'With `framed`: path of a page with the html, for a sandboxed frame, until the third next preview of the account.',
      ),
  })
  .meta({ id: 'TemplatePreview' })

/** Path parameter: id or name. */
const params = z.strictObject({ id: z.string().min(1).max(128).describe('Id or name.') })
const framed = z.boolean().default(false)
const versionNumber = z.number().int().min(1).max(1_000_000_000)
const versionParam = z.coerce.number().int().min(1).max(1_000_000_000)
const revision = versionNumber
  .optional()
  .describe('The revision that was edited: 409 `version_conflict` when there is a newer one.')

/** `POST /api/v1/templates`. */
export const createTemplateOperation = endpoint({
  operationId: 'createTemplate',
  tag: 'Templates',
  method: 'POST',
  path: '/api/v1/templates',
  summary: 'Stores a template as a draft; it can be sent once it is published.',
  access: WRITE,
  example: {
    body: {
      name: 'welcome',
      subject: 'Welcome, {{ name }}',
      text: 'Hello {{ name }}, good to have you here.',
      variables: [{ key: 'name', type: 'string', required: true }],
    },
  },
  body: z.strictObject({
    name,
    subject,
    html: html.optional(),
    text: text.optional(),
    variables: variables.default([]),
  }),
  bodyBytes: BODY_BYTES,
  status: 201,
  response: template,
})

/** By time or by name; the time of the last change is in no index. */
export const TEMPLATE_ORDERS = listOrders('asc', { created_at: ['_id'], name: ['name'] })

/** `GET /api/v1/templates`. */
export const listTemplatesOperation = endpoint({
  operationId: 'listTemplates',
  tag: 'Templates',
  method: 'GET',
  path: '/api/v1/templates',
  summary: 'Lists the templates of the account, oldest first unless another order is asked for.',
  access: READ,
  query: orderedPageQuery(TEMPLATE_ORDERS),
  response: orderedPageOf(summary),
})

/** `GET /api/v1/templates/{id}`. */
export const getTemplateOperation = endpoint({
  operationId: 'getTemplate',
  tag: 'Templates',
  method: 'GET',
  path: '/api/v1/templates/{id}',
  summary: 'One template with its draft, by id or name.',
  access: READ,
  params,
  response: template,
})

/** `PATCH /api/v1/templates/{id}`. */
export const patchTemplateOperation = endpoint({
  operationId: 'changeTemplate',
  tag: 'Templates',
  method: 'PATCH',
  path: '/api/v1/templates/{id}',
  summary: 'Changes the draft; what is sent stays the same until it is published.',
  access: WRITE,
  example: { body: { subject: 'Welcome to our shop, {{ name }}' } },
  params,
  body: z.strictObject({
    revision,
    name: name.optional(),
    subject: subject.optional(),
    html: html.nullable().optional(),
    text: text.nullable().optional(),
    variables: variables.optional(),
  }),
  bodyBytes: BODY_BYTES,
  response: template,
})

/** `DELETE /api/v1/templates/{id}`. */
export const deleteTemplateOperation = endpoint({
  operationId: 'deleteTemplate',
  tag: 'Templates',
  method: 'DELETE',
  path: '/api/v1/templates/{id}',
  summary: 'Removes a template with its versions.',
  access: WRITE,
  params,
  status: 204,
})

/** `POST /api/v1/templates/{id}/publish`. */
export const publishTemplateOperation = endpoint({
  operationId: 'publishTemplate',
  tag: 'Templates',
  method: 'POST',
  path: '/api/v1/templates/{id}/publish',
  summary: 'Makes a version of the draft, which is sent from now on; without a change nothing happens.',
  access: WRITE,
  params,
  body: z.strictObject({ revision }),
  response: template,
})

/** `POST /api/v1/templates/{id}/rollback`. */
export const rollbackTemplateOperation = endpoint({
  operationId: 'rollbackTemplate',
  tag: 'Templates',
  method: 'POST',
  path: '/api/v1/templates/{id}/rollback',
  summary: 'Publishes an earlier version again, as a version of its own; the draft stays.',
  access: WRITE,
  example: { body: { version: 1 } },
  params,
  body: z.strictObject({ version: versionNumber }),
  response: template,
})

/** `GET /api/v1/templates/{id}/versions`. */
export const listTemplateVersionsOperation = endpoint({
  operationId: 'listTemplateVersions',
  tag: 'Templates',
  method: 'GET',
  path: '/api/v1/templates/{id}/versions',
  summary: `Lists the published versions, newest first; ${TEMPLATE_LIMITS.versions} are kept.`,
  access: READ,
  params,
  query: pageQuery.extend({ after: versionParam.optional() }),
  response: pageOf(versionSummary),
})

/** `GET /api/v1/templates/{id}/versions/{version}`. */
export const getTemplateVersionOperation = endpoint({
  operationId: 'getTemplateVersion',
  tag: 'Templates',
  method: 'GET',
  path: '/api/v1/templates/{id}/versions/{version}',
  summary: 'One published version with its content.',
  access: READ,
  params: params.extend({ version: versionParam }),
  response: templateVersion,
})

/** `POST /api/v1/templates/{id}/preview`. */
export const previewTemplateOperation = endpoint({
  operationId: 'previewTemplate',
  tag: 'Templates',
  method: 'POST',
  path: '/api/v1/templates/{id}/preview',
  summary: 'Renders the draft, or a version, with sample values.',
  access: READ,
  example: { body: { values: { name: 'Ann' } } },
  params,
  body: z.strictObject({ version: versionNumber.optional(), values, framed }),
  bodyBytes: BODY_BYTES,
  response: preview,
})

/** `POST /api/v1/templates/preview`. */
export const previewContentOperation = endpoint({
  operationId: 'previewTemplateContent',
  tag: 'Templates',
  method: 'POST',
  path: '/api/v1/templates/preview',
  summary: 'Renders a content that is not stored with sample values.',
  access: READ,
  example: {
    body: {
      subject: 'Welcome, {{ name }}',
      text: 'Hello {{ name }}!',
      variables: [{ key: 'name', type: 'string' }],
      values: { name: 'Ann' },
    },
  },
  body: z.strictObject({
    subject,
    html: html.optional(),
    text: text.optional(),
    variables: variables.default([]),
    values,
    framed,
  }),
  bodyBytes: BODY_BYTES,
  response: preview,
})

/** `GET /api/v1/template-previews/{id}`. */
export const previewFrameOperation = endpoint({
  operationId: 'getTemplatePreviewFrame',
  tag: 'Templates',
  method: 'GET',
  path: '/api/v1/template-previews/{id}',
  summary: 'The html of a recent preview for a sandboxed frame; nothing in it runs or loads.',
  access: READ,
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  responseContent: { 'text/html': { type: 'string' } },
})
