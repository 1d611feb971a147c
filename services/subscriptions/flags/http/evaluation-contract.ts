/** The operation that shows administrators how switches evaluate for a user. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { VIEW } from '../../http/shared/access.ts'
import { appKey } from '../../http/shared/contract-fields.ts'
import { id, text } from '../../rules/field-schemas.ts'
import { switchFields, switchName } from '../rules/flag-spec.ts'

/** Body limit in bytes: that of an unsaved switch. */
const LARGE_BYTES = 1024 * 1024
/** Most attributes of one request. */
const MAX_ATTRIBUTES = 50

const attributes = z
  .record(text(1, 64), z.union([z.string().max(200), z.number(), z.boolean()]))
  .refine(given => Object.keys(given).length <= MAX_ATTRIBUTES, {
    message: reason('field.too_many'),
    params: { count: MAX_ATTRIBUTES },
  })
  .meta({ maxProperties: MAX_ATTRIBUTES })

const evaluated = z
  .object({
    name: z.string(),
    description: z.string(),
    type: z.string(),
    /**
     * value: the user gets `display_value`. default: no value, the default in the code of the app applies. needs_key: the
     * share is by targetingKey, and there is none. undecided: the share of a switch that is not stored yet has no users.
     */
    outcome: z.enum(['value', 'default', 'needs_key', 'undecided']),
    reason: z.enum(['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED', '']),
    display_value: z.string(),
    /** Number of the rule that decides, from 1; absent where none does. */
    rule: z.number().int().optional(),
    rule_name: z.string(),
    /** Whether the user belongs to the share; absent where none was drawn. */
    in_rollout: z.boolean().optional(),
    /** Share in percent that applied. */
    rollout: z.string(),
  })
  .meta({ id: 'EvaluatedSwitch' })

/** Evaluates switches for a user, among them one that is not saved. */
export const evaluateSwitches = endpoint({
  operationId: 'evaluateSwitches',
  tag: 'Switches',
  method: 'POST',
  path: '/switch_manage/evaluate',
  summary:
    'Evaluates the switches of an app for one user, or one unsaved switch, by the same rules as OFREP. Changes nothing. The context of user_id is the profile with the id as targetingKey; context adds and replaces attributes.',
  access: VIEW,
  example: {
    query: { app_key: 'demo' },
    body: {
      context: { targetingKey: 'user-1', platform: 'ios' },
      definition: { name: 'new-editor', type: 'boolean', value: '1', rollout: 20 },
    },
  },
  query: z.object({ app_key: appKey }),
  body: z.object({
    user_id: id.optional(),
    context: attributes.optional(),
    name: z.string().trim().max(64).optional().describe('Only this stored switch.'),
    definition: z
      .object({ ...switchFields, name: switchName.optional() })
      .optional()
      .describe('A switch as it would be after saving; a stored one with its name gives the fields that are absent.'),
  }),
  bodyBytes: LARGE_BYTES,
  response: z.object({
    /** The evaluated context. */
    context: z.record(z.string(), z.string()),
    switches: z.array(evaluated),
  }),
})
