/** The OpenAPI document of the mail API, generated from the contracts. */
import * as accountsContract from '../../accounts/http/accounts-contract.ts'
import { sessionCookie } from '../../accounts/http/session-cookie.ts'
import type { AnyEndpoint } from '../../platform/http/endpoint.ts'
import { openApi, operationsOf } from '../../platform/http/openapi.ts'
import { documentOperations } from '../../platform/http/reference/document-operations.ts'
import { intakeOperations } from '../reports/http/report-intake-contract.ts'
import { unsubscribeOperations } from '../streams/http/unsubscribe-contract.ts'
import { trackingOperations } from '../tracking/http/tracking-contract.ts'
import * as mailContract from './contract.ts'
import { type Access, roleFor, scopesFor } from './shared/access.ts'

const PUBLIC = { kind: 'public' } as const
type AnyAccess = Access | typeof PUBLIC

/** The document, OpenAPI 3.1, of the API at this public address. */
export function mailDocument(server: string) {
  return openApi<AnyAccess>({
    title: 'Postwright mail API',
    description:
      'Sends mail from own domains, and shows what became of it. Programs use a token; the panel uses a session. Every operation has a rate: answers have `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds), and beyond the limit the answer is 429 `rate_limited` with `Retry-After`. Texts for people are in English. A text `x` has its stable code in `x_code` and its parameters in `x_params`, a list of texts `xs` has both in `xs_codes`, in the same order: programs should compare codes, since texts may be improved in any release.',
    version: '1',
    server,
    tags: TAGS,
    operations: [
      ...operationsOf<AnyAccess>(accountsContract),
      ...operationsOf<Access>(mailContract),
      ...documentOperations<AnyAccess>(PUBLIC),
      ...intakeOperations,
      ...unsubscribeOperations,
      ...trackingOperations,
    ],
    securitySchemes: {
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: sessionCookie(server).name,
        description: 'The cookie that the login sets.',
      },
      csrf: {
        type: 'apiKey',
        in: 'header',
        name: 'X-CSRF',
        description: 'Any value: shows that a write by session comes from no other site.',
      },
      token: {
        type: 'http',
        scheme: 'bearer',
        description: 'A token of the account (`pw_live_…`), with the scope named.',
      },
    },
    security: securityOf,
    pathExamples: PATH_EXAMPLES,
  })
}

const ID = '01kaqj3v9yxd1m5r8n2t6w0bze'
const PATH_EXAMPLES = {
  'users/{id}': `usr_${ID}`,
  'sessions/{id}': `ss_${ID}`,
  'passkeys/{id}': 'id-of-the-credential',
  'members/{id}': `usr_${ID}`,
  'accounts/{id}': `usr_${ID}`,
  'member-invitations/{id}': `minv_${ID}`,
  'u/{token}': `${ID}.sealed`,
  'c/{token}': `${ID}.sealed`,
  'o/{image}': `${ID}.sealed.gif`,
  'invitations/{id}': `inv_${ID}`,
  'domains/{id}': `dom_${ID}`,
  'dkim/{selector}': 'pw2026a',
  'dns-accounts/{id}': `dns_${ID}`,
  'smtp-credentials/{id}': `smtp_${ID}`,
  'tokens/{id}': `key_${ID}`,
  'suppressions/{id}': `sup_${ID}`,
  'templates/{id}': `tpl_${ID}`,
  'versions/{version}': 1,
  'template-previews/{id}': `prv_${ID}`,
  'webhooks/{id}': `wh_${ID}`,
  'deliveries/{delivery}': `msg_${ID}`,
  'holds/{id}': `hold_${ID}`,
  'message-views/{id}': `mv_${ID}`,
  'emails/{id}': `em_${ID}`,
  'inbox/{id}': `em_${ID}.0`,
  'messages/{message}': `em_${ID}.0`,
  'attachments/{index}': 0,
  'dmarc/{token}': `${ID}.signed`,
  'tls/{token}': `${ID}.signed`,
}

const TAGS = [
  { name: 'Emails', description: 'Sending, and the delivery log.' },
  { name: 'Reports', description: 'Limits, statistics and the stream of events.' },
  { name: 'Inbox', description: 'Captured mail: of the installation in capture mode, and of single domains.' },
  { name: 'Domains', description: 'Sending domains, their DNS records and DKIM keys.' },
  { name: 'DNS accounts', description: 'Credentials for DNS providers.' },
  { name: 'SMTP credentials', description: 'Logins for SMTP submission.' },
  { name: 'Templates', description: 'Templates of messages, their versions and previews.' },
  { name: 'Tokens', description: 'Tokens for this API.' },
  { name: 'Suppressions', description: 'Addresses that the account sends nothing to.' },
  {
    name: 'Webhooks',
    description: 'Events of mail and domains, posted to addresses of the account (Standard Webhooks 1.0).',
  },
  { name: 'Session', description: 'Login and logout.' },
  { name: 'Account', description: 'The own user.' },
  {
    name: 'Members',
    description:
      'Users who work in an account, with the role viewer, developer or admin. Every user owns an account; a session works in one account at a time.',
  },
  { name: 'Audit log', description: 'Who changed what.' },
  { name: 'Users', description: 'All accounts, for admins.' },
  { name: 'Operator', description: 'The state of the installation, for admins.' },
  {
    name: 'Service',
    description: 'Reports of other servers, links in mail, this document, and the probe of load balancers.',
  },
]

/** Requirements of one operation. Required roles and scopes are in the lists (OpenAPI 3.1). */
function securityOf({ access, method }: AnyEndpoint<AnyAccess>): Record<string, string[]>[] {
  if (access.kind === 'public') return []
  const session = { session: rolesOf(access), ...(method !== 'GET' && { csrf: [] }) }
  return access.kind === 'account' ? [session, { token: scopesFor(access) }] : [session]
}

/** `account:…` is the lowest role in the account in which the session works, `admin` that of the installation. */
function rolesOf(access: Access): string[] {
  if (access.kind === 'session') return []
  return [access.kind === 'admin' ? 'admin' : `account:${roleFor(access)}`]
}
