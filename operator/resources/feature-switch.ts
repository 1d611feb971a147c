/** FeatureSwitch: a feature switch of an App. */
import { z } from 'zod'
import {
  defineKind,
  FORMER_VERSIONS,
  immutable,
  listOf,
  READY_COLUMNS,
  referenceTo,
  statusFields,
  withRules,
} from './kind.ts'

const line = z.string().min(1).max(200)

const logEntry = z
  .object({
    version: z.string().min(1).max(32).describe('Number of the release, as in 1.4.0.'),
    date: z
      .string()
      .max(10)
      .regex(/^\d{4}-\d{2}-\d{2}$/)
      .describe('Day of the release, YYYY-MM-DD.'),
    title: z.string().max(200).default('').describe('Headline.'),
    features: listOf(line, 20).prefault([]).describe('What is new.'),
    improvements: listOf(line, 20).prefault([]).describe('What is better.'),
    fixes: listOf(line, 20).prefault([]).describe('What is repaired.'),
  })
  .describe('Notes of one version.')

const percent = z
  .string()
  .max(7)
  .regex(/^(100(\.0{1,3})?|\d{1,2}(\.\d{1,3})?)$/)

const targetingRule = z
  .object({
    name: z.string().max(64).default('').describe('Name of the rule, for people.'),
    conditions: listOf(
      z
        .object({
          attribute: z.string().min(1).max(64).describe('Attribute of the evaluation context.'),
          operator: z
            .enum(['eq', 'ne', 'in', 'not_in', 'contains', 'starts_with', 'ends_with', 'gt', 'lt', 'version_gte'])
            .describe('How the attribute is compared.'),
          values: listOf(z.string().max(200), 100).min(1).describe('What it is compared with.'),
        })
        .describe('Compares one attribute of the evaluation context.'),
      10,
    )
      .min(1)
      .describe('Conditions that must all hold.'),
    value: z.string().max(4096).optional().describe('Value for those who match; default is the value of the switch.'),
    rollout: percent.optional().describe('Share of those who match, in percent.'),
  })
  .describe('Gives some users another value; the first rule that matches decides.')

const schedule = withRules(
  z.object({
    at: z
      .string()
      .max(35)
      .regex(/^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/)
      .meta({ format: 'date-time' })
      .describe('When the change takes effect, as in 2027-01-01T00:00:00Z.'),
    value: z.string().max(4096).optional().describe('The value from then on.'),
    enabled: z.boolean().optional().describe('Whether the switch is enabled from then on.'),
    rollout: percent.optional().describe('The share from then on, in percent.'),
  }),
  {
    rule: 'has(self.value) || has(self.enabled) || has(self.rollout)',
    message: 'a schedule changes value, enabled or rollout',
    reason: 'FieldValueRequired',
  },
).describe('A change at a time.')

const JSON_STRING = String.raw`"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"`
const JSON_SCALAR = String.raw`(${JSON_STRING}|-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?|true|false|null)`
/**
 * Between braces: strings, numbers, words and marks of JSON. Whether they are balanced is beyond a regular expression; the
 * operator parses the value and reports the rest as InvalidSpec.
 */
const JSON_TOKENS = String.raw`^\s*\{\s*(${JSON_STRING}\s*:(\s|${JSON_SCALAR}|[][{}:,])*)?\}\s*$`

/** A regular expression inside of a string literal of CEL. */
function celString(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}

const spec = withRules(
  z.object({
    appRef: immutable(referenceTo('App'), 'appRef').describe('The App that asks for this switch.'),
    name: immutable(
      z
        .string()
        .min(1)
        .max(64)
        .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/),
      'name',
    ).describe('Name of the switch, unique in its app.'),
    description: z
      .string()
      .max(500)
      .optional()
      .describe('Description shown to people; default is what the switch has, empty for a new one.'),
    type: z
      .enum(['boolean', 'number', 'string', 'json', 'changelog'])
      .default('boolean')
      .describe('Type of the value.'),
    value: z
      .string()
      .max(65_536)
      .describe('Value as text: "1" or "0" for boolean, a number, any text, or a JSON object for json and changelog.'),
    title: z
      .string()
      .max(200)
      .optional()
      .describe('Headline shown with the switch; default is what the switch has, empty for a new one.'),
    logs: listOf(logEntry, 50)
      .optional()
      .describe('Release notes, newest first; default is what the switch has, none for a new one.'),
    enabled: z
      .boolean()
      .optional()
      .describe(
        'false is the kill switch: evaluation answers DISABLED. Default is what the switch has, true for a new one.',
      ),
    clientVisible: z
      .boolean()
      .optional()
      .describe(
        'Whether clients with the publishable key may see it; default is what the switch has, false for a new one.',
      ),
    rollout: percent
      .optional()
      .describe(
        'Share of targeting keys that get the value, in percent with up to three decimals; default is what the switch has, 100 for a new one.',
      ),
    rules: listOf(targetingRule, 20)
      .optional()
      .describe('Targeting rules, first match wins; default is what the switch has, none for a new one.'),
    schedules: listOf(schedule, 20)
      .optional()
      .describe(
        'Changes of value, enabled and rollout at a time. From then on they count instead of the fields above; default is what the switch has, none for a new one.',
      ),
    deletionPolicy: z
      .enum(['Delete', 'Retain'])
      .default('Delete')
      .describe('Delete: the switch goes with this resource. Retain: it stays and can be edited in the panel.'),
  }),
  {
    rule: "self.type != 'boolean' || self.value in ['0', '1']",
    message: 'the value of a boolean switch is "0" or "1"',
    fieldPath: '.value',
    reason: 'FieldValueInvalid',
  },
  {
    rule: "self.type != 'number' || self.value.matches('^-?[0-9]{1,15}(\\\\.[0-9]{1,15})?$')",
    message: 'the value of a number switch is a decimal number',
    fieldPath: '.value',
    reason: 'FieldValueInvalid',
  },
  {
    rule: `!(self.type in ['json', 'changelog']) || self.value.matches('${celString(JSON_TOKENS)}')`,
    message: 'the value of a json or changelog switch is a JSON object',
    fieldPath: '.value',
    reason: 'FieldValueInvalid',
  },
)

const status = z.object({
  ...statusFields,
  switchId: z.string().max(64).optional().describe('Identifier of the switch in the API.'),
  enabled: z.boolean().optional().describe('Whether the switch is enabled, declared or not.'),
})

/** A switch. */
export const FeatureSwitch = defineKind({
  kind: 'FeatureSwitch',
  plural: 'featureswitches',
  shortNames: ['fsw'],
  formerVersions: FORMER_VERSIONS,
  description: 'A feature switch of an App: value, release notes, roll-out and rules.',
  spec,
  status,
  columns: [
    { name: 'App', type: 'string', jsonPath: '.spec.appRef.name' },
    { name: 'Switch', type: 'string', jsonPath: '.spec.name' },
    { name: 'Enabled', type: 'string', jsonPath: '.status.enabled' },
    ...READY_COLUMNS,
  ],
})
/** Parsed FeatureSwitch. */
export type FeatureSwitch = ReturnType<typeof FeatureSwitch.parse>
