/** How each operation of the mail API separates accounts. Every new operation needs an entry. */

/** What an account owns; the test creates one of each for two accounts. */
export type ResourceType = 'domain' | 'credential' | 'token' | 'audit_entry' | 'message' | 'captured' | 'dns_account'

/** What the test does with an operation. */
export type Row =
  /** Takes the id of a resource: a foreign one returns 404 and stays unchanged, the caller's returns `own`. */
  | { kind: 'item'; resource: ResourceType; own: number; body?: object }
  /** Sends mail: a sender domain of another account is rejected, and nothing is stored. */
  | { kind: 'send'; body(from: string): unknown }
  /** Lists resources: only those of the caller. */
  | { kind: 'list'; resource: ResourceType }
  /** Admins only: a user and a token get 403. */
  | { kind: 'admin'; body?: object }
  /** Takes no ids: acts on the caller's account only. `reason` names the tests. */
  | { kind: 'own'; reason: string }

const mail = (from: string) => ({ from, to: 'someone@example.net', subject: 'Hello', text: 'Hello' })
const raw = (from: string) => ({
  from,
  to: ['someone@example.net'],
  raw: Buffer.from(`From: ${from}\r\nSubject: Hello\r\n\r\nHello\r\n`).toString('base64'),
})
const later = () => new Date(Date.now() + 7_200_000).toISOString()

/** Credentials of a server that no process serves. */
export const DEAD_SERVER = {
  provider: 'rfc2136' as const,
  credentials: {
    server: '127.0.0.1:1',
    key_name: 'key',
    key_algorithm: 'hmac-sha256' as const,
    key_secret: 'c2VjcmV0',
  },
}

const created = 'creates for the caller and has no field user_id (see the tests of the resource)'
const self = 'reads and writes only the account of the session (see the tests of accounts)'

/** One row for each operation. */
export const ISOLATION: Readonly<Record<string, Row>> = {
  'POST /api/v1/session': { kind: 'own', reason: self },
  'GET /api/v1/session': { kind: 'own', reason: self },
  'DELETE /api/v1/session': { kind: 'own', reason: self },
  'GET /api/v1/me': { kind: 'own', reason: self },
  'PATCH /api/v1/me': { kind: 'own', reason: self },
  'PUT /api/v1/me/password': { kind: 'own', reason: self },
  'GET /api/v1/admin/users': { kind: 'admin' },
  'POST /api/v1/admin/users': { kind: 'admin', body: { username: 'mallory' } },
  'GET /api/v1/admin/users/{id}': { kind: 'admin' },
  'PATCH /api/v1/admin/users/{id}': { kind: 'admin', body: { recipients_per_day: 0 } },
  'POST /api/v1/admin/users/{id}/suspend': { kind: 'admin', body: {} },
  'POST /api/v1/admin/users/{id}/unsuspend': { kind: 'admin', body: {} },
  'POST /api/v1/admin/users/{id}/reset-password': { kind: 'admin', body: {} },
  'GET /api/v1/audit-logs': { kind: 'list', resource: 'audit_entry' },
  'POST /api/v1/domains': { kind: 'own', reason: created },
  'GET /api/v1/domains': { kind: 'list', resource: 'domain' },
  'GET /api/v1/domains/{id}': { kind: 'item', resource: 'domain', own: 200 },
  'PATCH /api/v1/domains/{id}': { kind: 'item', resource: 'domain', own: 200, body: { dns_account_id: null } },
  'DELETE /api/v1/domains/{id}': { kind: 'item', resource: 'domain', own: 204 },
  'POST /api/v1/domains/{id}/verify': { kind: 'item', resource: 'domain', own: 202 },
  'GET /api/v1/domains/{id}/checks': { kind: 'item', resource: 'domain', own: 200 },
  'GET /api/v1/domains/{id}/zonefile': { kind: 'item', resource: 'domain', own: 200 },
  // 409: the domain was found, and has no DNS account, or a key that is not published.
  'POST /api/v1/domains/{id}/dns/plan': { kind: 'item', resource: 'domain', own: 409, body: {} },
  'POST /api/v1/domains/{id}/dns/apply': { kind: 'item', resource: 'domain', own: 409, body: {} },
  'POST /api/v1/domains/{id}/dkim/rotate': { kind: 'item', resource: 'domain', own: 409, body: {} },
  'POST /api/v1/domains/{id}/dkim/{selector}/activate': { kind: 'item', resource: 'domain', own: 409 },
  'POST /api/v1/domains/{id}/dkim/{selector}/revoke': { kind: 'item', resource: 'domain', own: 200 },
  'POST /api/v1/dns-accounts': { kind: 'own', reason: created },
  'GET /api/v1/dns-accounts': { kind: 'list', resource: 'dns_account' },
  'GET /api/v1/dns-accounts/{id}': { kind: 'item', resource: 'dns_account', own: 200 },
  // 503: the account was found, and its server does not answer.
  'PUT /api/v1/dns-accounts/{id}': { kind: 'item', resource: 'dns_account', own: 503, body: DEAD_SERVER },
  'POST /api/v1/dns-accounts/{id}/test': { kind: 'item', resource: 'dns_account', own: 200 },
  'DELETE /api/v1/dns-accounts/{id}': { kind: 'item', resource: 'dns_account', own: 204 },
  'GET /api/v1/admin/domains': { kind: 'admin' },
  'POST /api/v1/admin/domains/{id}/verify': { kind: 'admin', body: {} },
  'POST /api/v1/smtp-credentials': { kind: 'own', reason: created },
  'GET /api/v1/smtp-credentials': { kind: 'list', resource: 'credential' },
  'GET /api/v1/smtp-credentials/{id}': { kind: 'item', resource: 'credential', own: 200 },
  'PATCH /api/v1/smtp-credentials/{id}': { kind: 'item', resource: 'credential', own: 200, body: { disabled: true } },
  'PUT /api/v1/smtp-credentials/{id}/password': { kind: 'item', resource: 'credential', own: 200, body: {} },
  'GET /api/v1/smtp-credentials/{id}/password': { kind: 'item', resource: 'credential', own: 200 },
  'DELETE /api/v1/smtp-credentials/{id}': { kind: 'item', resource: 'credential', own: 204 },
  'POST /api/v1/tokens': { kind: 'own', reason: created },
  'GET /api/v1/tokens': { kind: 'list', resource: 'token' },
  'GET /api/v1/tokens/{id}': { kind: 'item', resource: 'token', own: 200 },
  'POST /api/v1/tokens/{id}/rotate': { kind: 'item', resource: 'token', own: 200, body: {} },
  'DELETE /api/v1/tokens/{id}': { kind: 'item', resource: 'token', own: 204 },
  'POST /api/send': { kind: 'send', body: mail },
  'POST /api/v1/emails': { kind: 'send', body: mail },
  'POST /api/v1/emails/batch': { kind: 'send', body: from => [mail(from)] },
  'POST /api/v1/emails/raw': { kind: 'send', body: raw },
  'GET /api/v1/emails': { kind: 'list', resource: 'message' },
  'GET /api/v1/emails/{id}': { kind: 'item', resource: 'message', own: 200 },
  'GET /api/v1/emails/{id}/events': { kind: 'item', resource: 'message', own: 200 },
  'GET /api/v1/emails/{id}/attempts': { kind: 'item', resource: 'message', own: 200 },
  'GET /api/v1/emails/{id}/raw': { kind: 'item', resource: 'message', own: 200 },
  'GET /api/v1/emails/{id}/preview': { kind: 'item', resource: 'message', own: 200 },
  'PATCH /api/v1/emails/{id}': { kind: 'item', resource: 'message', own: 200, body: { scheduled_at: later() } },
  'POST /api/v1/emails/{id}/cancel': { kind: 'item', resource: 'message', own: 200, body: {} },
  'POST /api/v1/emails/{id}/retry': { kind: 'item', resource: 'message', own: 200, body: {} },
  'POST /api/v1/emails/{id}/resend': { kind: 'item', resource: 'message', own: 202, body: { to: 'all' } },
  'GET /api/v1/events/stream': {
    kind: 'own',
    reason: 'a stream of events of the caller only (see the tests of the live tail)',
  },
  'GET /api/v1/stats': { kind: 'own', reason: 'counts the messages of the caller (see the tests of reports)' },
  'GET /api/v1/inbox': { kind: 'list', resource: 'captured' },
  'GET /api/v1/inbox/{id}/raw': { kind: 'item', resource: 'captured', own: 200 },
  'GET /api/v1/inbox/{id}/preview': { kind: 'item', resource: 'captured', own: 200 },
  'GET /api/v1/admin/queues': { kind: 'admin' },
  'GET /api/v1/admin/health': { kind: 'admin' },
  'POST /api/v1/admin/queues/retry': { kind: 'admin', body: { site: 'example.com' } },
  'GET /api/v1/admin/sending-addresses': { kind: 'admin' },
  'GET /api/v1/admin/certificates': { kind: 'admin' },
  'GET /api/v1/admin/resources': { kind: 'admin' },
  'GET /api/v1/limits': { kind: 'own', reason: 'the daily quota of the caller only (see the tests of the limits)' },
}
