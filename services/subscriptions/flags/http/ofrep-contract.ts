/** The evaluation of switches over OFREP (OpenFeature Remote Evaluation Protocol), as the document of the API shows it. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import type { JsonSchema } from '../../../platform/json/json-schema.ts'
import { SWITCH_TYPES } from '../rules/flag-value.ts'

/** A publishable key, or a secret of the app. */
const KEY = { kind: 'key' } as const

const evaluationRequest = z
  .object({
    context: z
      .looseObject({ targetingKey: z.string().optional().describe('Who is asking: decides on rollouts by share.') })
      .optional()
      .describe('Attributes that the rules of switches look at.'),
  })
  .meta({ id: 'EvaluationRequest' })

const evaluation = z
  .object({
    key: z.string(),
    reason: z.enum(['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED']),
    variant: z.enum(['on', 'off']),
    value: z
      .union([z.boolean(), z.number(), z.string(), z.looseObject({})])
      .optional()
      .describe('Absent: the default in the code of the caller holds.'),
    metadata: z.object({ version: z.number().int(), type: z.enum(SWITCH_TYPES) }),
  })
  .meta({ id: 'Evaluation' })

const evaluationError = z
  .object({ key: z.string(), errorCode: z.string(), errorDetails: z.string() })
  .meta({ id: 'EvaluationError' })

const evaluateFlags = endpoint({
  operationId: 'evaluateFlags',
  tag: 'OFREP',
  method: 'POST',
  path: '/ofrep/v1/evaluate/flags',
  summary: 'Evaluates all switches for one context. A publishable key gets the switches that clients may see.',
  access: KEY,
  example: { body: { context: { targetingKey: 'user-1', country: 'DE' } } },
  headers: z.object({ 'If-None-Match': z.string().optional().describe('ETag of an earlier answer.') }),
  notModified: true,
  responseHeaders: { ETag: { description: 'Tag of this answer.', schema: { type: 'string' }, required: true } },
  body: evaluationRequest,
  response: z.object({ flags: z.array(z.union([evaluation, evaluationError])) }),
})

const evaluateFlag = endpoint({
  operationId: 'evaluateFlag',
  tag: 'OFREP',
  method: 'POST',
  path: '/ofrep/v1/evaluate/flags/{key}',
  summary: 'Evaluates one switch for one context.',
  access: KEY,
  example: { body: { context: { targetingKey: 'user-1', country: 'DE' } } },
  params: z.object({ key: z.string().min(1) }),
  body: evaluationRequest,
  response: evaluation,
})

/** The evaluation of all switches, and of one. */
export const ofrepOperations = [evaluateFlags, evaluateFlag]

/** Refusals of OFREP: `errorCode` for errors that the caller can fix, `errorDetails` for all. */
export const ofrepRefusal = {
  description: 'A refusal in the words of OFREP.',
  mediaType: 'application/json',
  name: 'OfrepError',
  schema: {
    type: 'object',
    required: ['errorDetails'],
    properties: {
      key: { type: 'string' },
      errorCode: { type: 'string', examples: ['PARSE_ERROR', 'INVALID_CONTEXT', 'FLAG_NOT_FOUND'] },
      errorDetails: { type: 'string' },
    },
  } satisfies JsonSchema,
}
