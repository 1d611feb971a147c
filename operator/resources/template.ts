/** Template: a template of messages, published. */
import { z } from 'zod'
import { TEMPLATE_LIMITS } from '../../services/mail/templates/rules/template-limits.ts'
import {
  type CelRule,
  defineKind,
  immutable,
  mapOf,
  presenceIsFixed,
  READY_COLUMNS,
  setOf,
  statusFields,
  time,
  withRules,
} from './kind.ts'
import { ownerField } from './owner-field.ts'

/** Name of a ConfigMap, and of a key in one. */
const configMapName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
const configMapKey = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[-._a-zA-Z0-9]+$/)

const part = (bytes: number, what: string) =>
  z
    .string()
    .min(1)
    .max(bytes)
    .optional()
    .describe(
      `${what}, at most ${bytes / 1024} KiB. \`kubectl apply\` needs \`--server-side\` above 256 KiB; another way is a ConfigMap.`,
    )

const partFrom = (what: string) =>
  z
    .object({
      configMapKeyRef: z
        .object({
          name: configMapName.describe('Name of the ConfigMap in the same namespace.'),
          key: configMapKey.describe('Key of the ConfigMap that holds the text.'),
        })
        .describe('A key of a ConfigMap. It is read again every minute, and at each change of this resource.'),
    })
    .optional()
    .describe(`Where ${what} is read from, in place of the field itself.`)

const variable = withRules(
  z.object({
    key: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z][A-Za-z0-9_]*$/)
      .describe('Name of the variable, as in {{ name }}.'),
    type: z.enum(['string', 'number', 'boolean', 'list']).default('string').describe('What a value may be.'),
    default: z
      .string()
      .max(4096)
      .optional()
      .describe(
        'Used when a message gives no value, as text: any text, a number, true or false, or a JSON array for a list.',
      ),
    required: z.boolean().default(false).describe('True: a message without a value, or a default, is refused.'),
  }),
  {
    rule: "!has(self.default) || self.type != 'number' || self.default.matches('^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$')",
    message: 'the default of a number is a number',
    fieldPath: '.default',
    reason: 'FieldValueInvalid',
  },
  {
    rule: "!has(self.default) || self.type != 'boolean' || self.default in ['true', 'false']",
    message: 'the default of a boolean is true or false',
    fieldPath: '.default',
    reason: 'FieldValueInvalid',
  },
)

function oneOf(field: string): CelRule {
  return {
    rule: `!has(self.${field}) || !has(self.${field}From)`,
    message: `${field} and ${field}From exclude each other`,
    fieldPath: `.${field}From`,
    reason: 'FieldValueForbidden',
  }
}

const spec = withRules(
  z.object({
    templateName: immutable(
      z
        .string()
        .min(1)
        .max(TEMPLATE_LIMITS.name)
        .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
      'templateName',
    )
      .optional()
      .describe(
        'Name that messages refer to, unique in the account; default is the name of this resource, which then has at most 64 characters.',
      ),
    owner: ownerField(
      'Account that has the template; default is the account of the namespace, k8s-<namespace>. Any other needs the annotation postwright.dev/owners on the Namespace.',
    ),
    subject: z.string().min(1).max(TEMPLATE_LIMITS.subject).describe('Subject, with variables as in {{ name }}.'),
    html: part(TEMPLATE_LIMITS.htmlBytes, 'HTML part'),
    htmlFrom: partFrom('the HTML part'),
    text: part(TEMPLATE_LIMITS.textBytes, 'Text part; without it, it is made from the HTML'),
    textFrom: partFrom('the text part'),
    variables: mapOf(
      variable.describe('A name in subject and parts that a message gives a value for.'),
      TEMPLATE_LIMITS.variables,
      ['key'],
    )
      .prefault([])
      .describe('The variables that subject and parts may use.'),
    deletionPolicy: z
      .enum(['Retain', 'Delete'])
      .default('Retain')
      .describe(
        'Retain: the template stays with its account. Delete: it goes with its versions; sending with it fails.',
      ),
  }),
  presenceIsFixed('templateName'),
  presenceIsFixed('owner'),
  oneOf('html'),
  oneOf('text'),
  {
    rule: 'has(self.html) || has(self.htmlFrom) || has(self.text) || has(self.textFrom)',
    message: 'a template needs html or text',
    fieldPath: '.html',
    reason: 'FieldValueRequired',
  },
)

const status = z.object({
  ...statusFields,
  templateId: z.string().max(64).optional().describe('Identifier of the template in the API.'),
  owner: z.string().max(128).optional().describe('Account that has the template.'),
  version: z.int().min(1).optional().describe('Published version, which messages are made from.'),
  publishedTime: time.optional().describe('When this version was published.'),
  variables: setOf(z.string().max(64), TEMPLATE_LIMITS.variables)
    .optional()
    .describe('Names of the variables of the published version.'),
})

/** A template of messages. */
export const Template = defineKind({
  kind: 'Template',
  plural: 'templates',
  shortNames: ['mtpl'],
  description:
    'A template of messages: subject, HTML and text with variables. A change of its content is published as a version of its own.',
  spec,
  status,
  columns: [
    { name: 'Subject', type: 'string', jsonPath: '.spec.subject', priority: 1 },
    { name: 'Version', type: 'integer', jsonPath: '.status.version' },
    { name: 'Owner', type: 'string', jsonPath: '.status.owner', priority: 1 },
    ...READY_COLUMNS,
  ],
})
/** Parsed Template. */
export type Template = ReturnType<typeof Template.parse>
