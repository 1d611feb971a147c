/** SMTPCredential: an SMTP login in a Secret. */
import { z } from 'zod'
import {
  defineKind,
  FORMER_VERSIONS,
  immutable,
  networks,
  presenceIsFixed,
  READY_COLUMNS,
  referenceTo,
  secretField,
  setOf,
  statusFields,
  time,
  withRules,
} from './kind.ts'
import { sendingLimitsField } from './sending-limits.ts'

const spec = withRules(
  z.object({
    domainRef: immutable(referenceTo('MailDomain'), 'domainRef').describe('The MailDomain that this login sends for.'),
    username: immutable(
      z
        .string()
        .min(3)
        .max(128)
        .regex(/^[a-z0-9][a-z0-9._+-]*$/),
      'username',
    )
      .optional()
      .describe('User name, unique in the installation; default is built from namespace and name.'),
    allowedSenders: withRules(setOf(z.string().min(3).max(254), 50), {
      rule: "self.all(s, s.matches('^[^@ ]*@[^@ .]+([.][^@ .]+)+$'))",
      message: 'each entry of allowedSenders is an address like shop@example.com, or @example.com for all of a domain',
      reason: 'FieldValueInvalid',
    })
      .prefault([])
      .describe(
        'Addresses allowed in From and the envelope; empty means every address of the domain. All belong to the domain.',
      ),
    disabled: z.boolean().default(false).describe('True: the login is refused; it and its Secret stay.'),
    allowedCIDRs: networks.describe('Networks that may log in; empty means any.'),
    fallbackSender: withRules(z.string().min(3).max(254), {
      rule: "self.matches('^[^@ ]+@[^@ .]+([.][^@ .]+)+$')",
      message: 'fallbackSender is an address like shop@example.com',
      reason: 'FieldValueInvalid',
    })
      .optional()
      .describe(
        'Address of the domain that takes the place of senders which this login may not use, in the envelope and in From: for servers that write as root@host. Without it they are refused.',
      ),
    allowNullSender: z
      .boolean()
      .default(false)
      .describe('Accept an empty envelope sender, as the bounces of a mail server have it.'),
    messagesPerHour: z.int().min(0).max(1_000_000).default(0).describe('Limit over all processes; 0 means none.'),
    sendingLimits: sendingLimitsField('the login'),
    secret: secretField('smtp'),
    endpoint: z
      .enum(['Public', 'Cluster'])
      .default('Cluster')
      .describe('Host in the Secret. Cluster: the Service inside the cluster. Public: the public host name.'),
    rotationIntervalDays: z
      .int()
      .min(0)
      .max(3650)
      .default(0)
      .describe('Days until a new password is made; the old one works for another day. 0 means never.'),
  }),
  presenceIsFixed('username'),
)

const status = z.object({
  ...statusFields,
  credentialId: z.string().max(64).optional().describe('Identifier of the login in the API.'),
  // The default is <name>@<namespace>: 253 characters, the sign, and 63.
  username: z.string().max(317).optional().describe('User name of the login.'),
  secretName: z.string().max(253).optional().describe('Secret with the login.'),
  lastRotatedTime: time.optional().describe('When the present password was made.'),
})

/** An SMTP login. */
export const SMTPCredential = defineKind({
  kind: 'SMTPCredential',
  plural: 'smtpcredentials',
  shortNames: ['smtpc'],
  formerVersions: FORMER_VERSIONS,
  description:
    'An SMTP login for a MailDomain. The operator writes host, port, user name, password and a URI into a Secret that pods mount.',
  spec,
  status,
  columns: [
    { name: 'Domain', type: 'string', jsonPath: '.spec.domainRef.name' },
    { name: 'Secret', type: 'string', jsonPath: '.status.secretName' },
    ...READY_COLUMNS,
  ],
})
/** Parsed SMTPCredential. */
export type SMTPCredential = ReturnType<typeof SMTPCredential.parse>
