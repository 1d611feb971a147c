/** APIToken: a send token in a Secret. */
import { z } from 'zod'
import {
  defineKind,
  immutable,
  READY_COLUMNS,
  referenceTo,
  secretField,
  setOf,
  statusFields,
  time,
  withRules,
} from './kind.ts'

const spec = withRules(
  z.object({
    domainRef: immutable(referenceTo('MailDomain'), 'domainRef').describe('The MailDomain that this token sends for.'),
    scopes: setOf(z.enum(['emails:send', 'emails:read']), 2)
      .min(1)
      .prefault(['emails:send'])
      .describe('What the token may do.'),
    validForDays: z.int().min(0).max(3650).default(0).describe('Days that a token is valid; 0 means without end.'),
    rotateBeforeDays: z
      .int()
      .min(0)
      .max(3650)
      .default(0)
      .describe('Days before the end at which a new token is made; the old one stays valid until its end.'),
    secret: secretField('token'),
  }),
  {
    rule: 'self.rotateBeforeDays == 0 || self.rotateBeforeDays < self.validForDays',
    message: 'rotateBeforeDays must be smaller than validForDays',
    fieldPath: '.rotateBeforeDays',
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
  shortName: 'mtok',
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
