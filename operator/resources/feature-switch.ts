/** FeatureSwitch: a feature switch of an App. */
import { z } from 'zod'
import { defineKind, immutable, listOf, READY_COLUMNS, referenceTo, statusFields, withRules } from './kind.ts'

const line = z.string().min(1).max(200)

const logEntry = z
  .object({
    version: z.string().min(1).max(32).describe('Version, as in 1.4.0.'),
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
      z.object({
        attribute: z.string().min(1).max(64).describe('Attribute of the evaluation context.'),
        operator: z
          .enum(['eq', 'ne', 'in', 'not_in', 'contains', 'starts_with', 'ends_with', 'gt', 'lt', 'version_gte'])
          .describe('How the attribute is compared.'),
        values: listOf(z.string().max(200), 100).min(1).describe('What it is compared with.'),
      }),
      10,
    )
      .min(1)
      .describe('Conditions that must all hold.'),
    value: z.string().max(4096).optional().describe('Value for those who match; default is the value of the switch.'),
    rollout: percent.optional().describe('Share of those who match, in percent.'),
  })
  .describe('Gives some users another value; the first rule that matches decides.')

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
    description: z.string().max(500).default('').describe('Description shown to people.'),
    type: z
      .enum(['boolean', 'number', 'string', 'json', 'changelog'])
      .default('boolean')
      .describe('Type of the value.'),
    value: z
      .string()
      .max(65_536)
      .describe('Value as text: "1" or "0" for boolean, a number, any text, or a JSON object for json and changelog.'),
    title: z.string().max(200).default('').describe('Headline shown with the switch.'),
    logs: listOf(logEntry, 50).prefault([]).describe('Release notes, newest first.'),
    enabled: z.boolean().default(true).describe('false is the kill switch: evaluation answers DISABLED.'),
    clientVisible: z.boolean().default(false).describe('Whether clients with the publishable key may see it.'),
    rollout: percent
      .default('100')
      .describe('Share of targeting keys that get the value, in percent with up to three decimals.'),
    rules: listOf(targetingRule, 20).prefault([]).describe('Targeting rules, first match wins.'),
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
})

/** A switch. */
export const FeatureSwitch = defineKind({
  kind: 'FeatureSwitch',
  plural: 'featureswitches',
  shortName: 'fsw',
  description: 'A feature switch of an App: value, release notes, roll-out and rules.',
  spec,
  status,
  columns: [
    { name: 'App', type: 'string', jsonPath: '.spec.appRef.name' },
    { name: 'Switch', type: 'string', jsonPath: '.spec.name' },
    { name: 'Enabled', type: 'string', jsonPath: '.spec.enabled' },
    ...READY_COLUMNS,
  ],
})
/** Parsed FeatureSwitch. */
export type FeatureSwitch = ReturnType<typeof FeatureSwitch.parse>
