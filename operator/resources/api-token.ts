/** APIToken: a send token in a Secret. */
import { z } from 'zod'
import {
  defineKind,
  FORMER_VERSIONS,
  immutable,
  networks,
  READY_COLUMNS,
  referenceTo,
  secretField,
  setOf,
  statusFields,
  time,
  withRules,
} from './kind.ts'

/** Scopes that hold for the mail of one domain. */
export const DOMAIN_SCOPES = ['emails:send', 'emails:read', 'inbox:read', 'inbox:write'] as const
/** Scopes that hold for the whole account of the MailDomain. None of them makes logins, tokens or domains (ADR 49). */
const ACCOUNT_SCOPES = [
  'domains:read',
  'suppressions:read',
  'suppressions:write',
  'templates:read',
  'templates:write',
  'webhooks:read',
  'webhooks:write',
] as const
const domainScopes = `[${DOMAIN_SCOPES.map(scope => `'${scope}'`).join(', ')}]`

const spec = withRules(
  z.object({
    domainRef: immutable(referenceTo('MailDomain'), 'domainRef').describe('The MailDomain that this token sends for.'),
    scopes: withRules(setOf(z.enum([...DOMAIN_SCOPES, ...ACCOUNT_SCOPES]), 11).min(1), {
      rule: `self.all(s, s in ${domainScopes}) || self.all(s, !(s in ${domainScopes}))`,
      message:
        'scopes of the account (domains, suppressions, templates, webhooks) need a token of their own, without scopes of emails and inbox',
      reason: 'FieldValueInvalid',
    })
      .prefault(['emails:send'])
      .describe(
        'What the token may do. Scopes of emails and inbox hold for the domain; the others hold for the whole account of the MailDomain, and for a token of their own.',
      ),
    mode: immutable(z.enum(['Live', 'Test']).default('Live'), 'mode').describe(
      'Test: messages are validated and logged, and not sent.',
    ),
    capture: z
      .boolean()
      .default(false)
      .describe(
        'Everything sent with the token goes into the inbox of the domain and to no recipient, also from a live domain.',
      ),
    allowedCIDRs: networks.describe('Networks that may use the token; empty means any.'),
    validForDays: z.int().min(0).max(3650).default(0).describe('Days that a token is valid; 0 means without end.'),
    rotateBeforeDays: z
      .int()
      .min(0)
      .max(3650)
      .default(0)
      .describe('Days before the end at which a new token is made; the old one stays valid until its end.'),
    endpoint: z
      .enum(['Public', 'Cluster'])
      .default('Public')
      .describe(
        'Address of the send API in the Secret. Public: below the public address of the installation. Cluster: the Service inside the cluster, over plain http.',
      ),
    secret: secretField('token'),
  }),
  {
    rule: 'self.rotateBeforeDays == 0 || self.rotateBeforeDays < self.validForDays',
    message: 'rotateBeforeDays must be smaller than validForDays',
    fieldPath: '.rotateBeforeDays',
    reason: 'FieldValueInvalid',
  },
  {
    rule: "!self.capture || self.mode == 'Live'",
    message: 'capture is for tokens of mode Live: a test token sends nothing',
    fieldPath: '.capture',
    reason: 'FieldValueInvalid',
  },
)

const status = z.object({
  ...statusFields,
  tokenId: z.string().max(64).optional().describe('Public part of the token.'),
  secretName: z.string().max(253).optional().describe('Secret with the token.'),
  expiresAt: time.optional().describe('When the token ends.'),
})

/** A send token. */
export const APIToken = defineKind({
  kind: 'APIToken',
  plural: 'apitokens',
  shortNames: ['mtok'],
  formerVersions: FORMER_VERSIONS,
  description: 'A token for the HTTP send API, bound to a MailDomain. The operator writes it into a Secret.',
  spec,
  status,
  columns: [
    { name: 'Domain', type: 'string', jsonPath: '.spec.domainRef.name' },
    { name: 'Secret', type: 'string', jsonPath: '.status.secretName' },
    { name: 'Expires', type: 'string', jsonPath: '.status.expiresAt' },
    ...READY_COLUMNS,
  ],
})
/** Parsed APIToken. */
export type APIToken = ReturnType<typeof APIToken.parse>
