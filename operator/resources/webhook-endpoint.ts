/** WebhookEndpoint: an address that gets events of mail, or of an App. */
import { z } from 'zod'
import { MAIL_EVENT_TYPES } from '../../services/mail/webhooks/rules/mail-event.ts'
import { EVENT_TYPES } from '../../services/subscriptions/events/rules/event-types.ts'
import {
  type CelRule,
  defineKind,
  immutable,
  listOf,
  presenceIsFixed,
  READY_COLUMNS,
  referenceTo,
  secretField,
  statusFields,
  time,
  withRules,
} from './kind.ts'
import { ownerField } from './owner-field.ts'

/** Types that a resource may choose: a test event goes only to the webhook that it was requested for. */
const MAIL_EVENTS = MAIL_EVENT_TYPES.filter(type => type !== 'webhook.test')

/** A field that only webhooks of mail have. */
function forMailOnly(field: string): CelRule {
  return {
    rule: `!has(self.appRef) || !has(self.${field})`,
    message: `${field} is for events of mail and cannot be used with appRef`,
    fieldPath: `.${field}`,
    reason: 'FieldValueForbidden',
  }
}

/** Lists are atomic, so that an empty one is kept by server-side apply: it says something else than none. */
const spec = withRules(
  z.object({
    url: z
      .string()
      .min(9)
      .max(500)
      .regex(/^https?:\/\/[!-~]+$/)
      .describe(
        'Where events are posted: an https address of a public host. Private hosts and http need the setting WEBHOOK_ALLOW_PRIVATE.',
      ),
    appRef: immutable(referenceTo('App'), 'appRef')
      .optional()
      .describe('The App whose events are sent. Without it, events of mail are sent.'),
    owner: ownerField(
      'Account whose events of mail are sent; default is the account of the MailDomains in domainRefs, or of the namespace, k8s-<namespace>. Any other needs the annotation postwright.dev/owners on the Namespace.',
    ),
    domainRefs: listOf(referenceTo('MailDomain').describe('One of the MailDomains.'), 100)
      .optional()
      .describe(
        'MailDomains of one account whose events are sent. Empty, the default of new webhooks: all events of the account, also those without a domain. Without this field a webhook keeps its own.',
      ),
    events: listOf(z.enum([...MAIL_EVENTS, ...EVENT_TYPES]), 50)
      .optional()
      .describe(
        'Types of events that are sent: those of mail, or with appRef those of an app. Empty, the default of new webhooks: all. Without this field a webhook keeps its own.',
      ),
    format: z
      .enum(['Postwright', 'Resend'])
      .optional()
      .describe(
        'Postwright: Standard Webhooks, for new webhooks the default. Resend: body, types and svix-* headers as receivers written for Resend expect them.',
      ),
    enabled: z
      .boolean()
      .optional()
      .describe(
        'False: nothing is sent. True, the default of new webhooks: events are sent, unless the platform disabled the webhook because its receiver failed for days.',
      ),
    displayName: z.string().max(100).optional().describe('Name shown to people; default names this resource.'),
    noticeEmail: z
      .string()
      .min(3)
      .max(254)
      .regex(/^[!-~]+@[!-~]+$/)
      .optional()
      .describe('Address that gets a mail when the platform disables the webhook.'),
    secret: secretField('webhook'),
    rotationIntervalDays: z
      .int()
      .min(0)
      .max(3650)
      .default(0)
      .describe(
        'Days until a new signing secret is made; the old one signs as well for another day. 0 means only on demand, by the annotation postwright.dev/rotate-at.',
      ),
    deletionPolicy: z
      .enum(['Retain', 'Delete'])
      .default('Delete')
      .describe('Delete: the webhook goes, with the events that wait for it. Retain: it stays and sends events.'),
  }),
  presenceIsFixed('appRef'),
  presenceIsFixed('owner'),
  forMailOnly('owner'),
  forMailOnly('domainRefs'),
  forMailOnly('format'),
  forMailOnly('displayName'),
  forMailOnly('noticeEmail'),
  {
    rule: "!has(self.events) || self.events.all(e, has(self.appRef) == e.matches('^(user|subscription|plan|switch)[.]'))",
    message: 'events are those of an app (user, subscription, plan, switch) with appRef, and those of mail without it',
    fieldPath: '.events',
    reason: 'FieldValueInvalid',
  },
)

const status = z.object({
  ...statusFields,
  webhookId: z.string().max(64).optional().describe('Identifier of the webhook in the API.'),
  owner: z.string().max(128).optional().describe('Account or app key whose events are sent.'),
  secretName: z.string().max(253).optional().describe('Secret with the signing secret.'),
  lastRotatedTime: time.optional().describe('When the present signing secret was made.'),
  enabled: z.boolean().optional().describe('Whether events are sent.'),
  failingSince: time.optional().describe('Since when every attempt fails.'),
  disabledTime: time.optional().describe('When the platform disabled the webhook.'),
})

/** An address that gets events. */
export const WebhookEndpoint = defineKind({
  kind: 'WebhookEndpoint',
  plural: 'webhookendpoints',
  shortNames: ['mwh'],
  description:
    'An address that gets events of mail, or of an App, as signed requests. The operator writes the signing secret into a Secret.',
  spec,
  status,
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.spec.url' },
    { name: 'App', type: 'string', jsonPath: '.spec.appRef.name', priority: 1 },
    { name: 'Secret', type: 'string', jsonPath: '.status.secretName', priority: 1 },
    {
      name: 'Delivering',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Delivering")].status',
    },
    ...READY_COLUMNS,
  ],
})
/** Parsed WebhookEndpoint. */
export type WebhookEndpoint = ReturnType<typeof WebhookEndpoint.parse>
