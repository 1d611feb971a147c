/** How each operation of the mail API keeps accounts apart: a new operation has to join this table. */

/** Things that an account owns, of which the test gives one to each of two accounts. */
export type Thing = 'domain' | 'credential' | 'token' | 'audit_entry' | 'message' | 'captured' | 'dns_account'

/** What the test does with an operation. */
export type Row =
  /** Takes the id of a thing: a foreign one is 404 and stays as it is, the own one gives `own`. */
  | { kind: 'item'; thing: Thing; own: number; body?: object }
  /** Sends mail: a sender domain of another account is refused, and nothing is stored. */
  | { kind: 'send'; body(from: string): unknown }
  /** Lists things: only the own ones. */
  | { kind: 'list'; thing: Thing }
  /** Only for admins: a user gets 403, a token too. */
  | { kind: 'admin'; body?: object }
  /** Knows no ids: acts for the caller alone. `reason` says where that is tested. */
  | { kind: 'own'; reason: string }

const mail = (from: string) => ({ from, to: 'someone@example.net', subject: 'Hello', text: 'Hello' })
const raw = (from: string) => ({
  from,
  to: ['someone@example.net'],
  raw: Buffer.from(`From: ${from}\r\nSubject: Hello\r\n\r\nHello\r\n`).toString('base64'),
})
const later = () => new Date(Date.now() + 7_200_000).toISOString()

/** Credentials that nobody answers to. */
export const DEAD_SERVER = {
  provider: 'rfc2136' as const,
  credentials: {
    server: '127.0.0.1:1',
    key_name: 'key',
    key_algorithm: 'hmac-sha256' as const,
    key_secret: 'c2VjcmV0',
  },
}

const created = 'creates for the caller; user_id is no field (see the tests of the resource)'
const self = 'reads and writes the account of the session alone (see the tests of accounts)'

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
  'GET /api/v1/audit-logs': { kind: 'list', thing: 'audit_entry' },
  'POST /api/v1/domains': { kind: 'own', reason: created },
  'GET /api/v1/domains': { kind: 'list', thing: 'domain' },
  'GET /api/v1/domains/{id}': { kind: 'item', thing: 'domain', own: 200 },
  'PATCH /api/v1/domains/{id}': { kind: 'item', thing: 'domain', own: 200, body: { dns_account_id: null } },
  'DELETE /api/v1/domains/{id}': { kind: 'item', thing: 'domain', own: 204 },
  'POST /api/v1/domains/{id}/verify': { kind: 'item', thing: 'domain', own: 202 },
  'GET /api/v1/domains/{id}/checks': { kind: 'item', thing: 'domain', own: 200 },
  'GET /api/v1/domains/{id}/zonefile': { kind: 'item', thing: 'domain', own: 200 },
  // 409: the domain was found, and has no DNS account, or a key that is not published.
  'POST /api/v1/domains/{id}/dns/plan': { kind: 'item', thing: 'domain', own: 409, body: {} },
  'POST /api/v1/domains/{id}/dns/apply': { kind: 'item', thing: 'domain', own: 409, body: {} },
  'POST /api/v1/domains/{id}/dkim/rotate': { kind: 'item', thing: 'domain', own: 409, body: {} },
  'POST /api/v1/domains/{id}/dkim/{selector}/activate': { kind: 'item', thing: 'domain', own: 409 },
  'POST /api/v1/domains/{id}/dkim/{selector}/revoke': { kind: 'item', thing: 'domain', own: 200 },
  'POST /api/v1/dns-accounts': { kind: 'own', reason: created },
  'GET /api/v1/dns-accounts': { kind: 'list', thing: 'dns_account' },
  'GET /api/v1/dns-accounts/{id}': { kind: 'item', thing: 'dns_account', own: 200 },
  // 503: the account was found, and its server does not answer.
  'PUT /api/v1/dns-accounts/{id}': { kind: 'item', thing: 'dns_account', own: 503, body: DEAD_SERVER },
  'POST /api/v1/dns-accounts/{id}/test': { kind: 'item', thing: 'dns_account', own: 200 },
  'DELETE /api/v1/dns-accounts/{id}': { kind: 'item', thing: 'dns_account', own: 204 },
  'GET /api/v1/admin/domains': { kind: 'admin' },
  'POST /api/v1/admin/domains/{id}/verify': { kind: 'admin', body: {} },
  'POST /api/v1/smtp-credentials': { kind: 'own', reason: created },
  'GET /api/v1/smtp-credentials': { kind: 'list', thing: 'credential' },
  'GET /api/v1/smtp-credentials/{id}': { kind: 'item', thing: 'credential', own: 200 },
  'PATCH /api/v1/smtp-credentials/{id}': { kind: 'item', thing: 'credential', own: 200, body: { disabled: true } },
  'PUT /api/v1/smtp-credentials/{id}/password': { kind: 'item', thing: 'credential', own: 200, body: {} },
  'GET /api/v1/smtp-credentials/{id}/password': { kind: 'item', thing: 'credential', own: 200 },
  'DELETE /api/v1/smtp-credentials/{id}': { kind: 'item', thing: 'credential', own: 204 },
  'POST /api/v1/tokens': { kind: 'own', reason: created },
  'GET /api/v1/tokens': { kind: 'list', thing: 'token' },
  'GET /api/v1/tokens/{id}': { kind: 'item', thing: 'token', own: 200 },
  'POST /api/v1/tokens/{id}/rotate': { kind: 'item', thing: 'token', own: 200, body: {} },
  'DELETE /api/v1/tokens/{id}': { kind: 'item', thing: 'token', own: 204 },
  'POST /api/send': { kind: 'send', body: mail },
  'POST /api/v1/emails': { kind: 'send', body: mail },
  'POST /api/v1/emails/batch': { kind: 'send', body: from => [mail(from)] },
  'POST /api/v1/emails/raw': { kind: 'send', body: raw },
  'GET /api/v1/emails': { kind: 'list', thing: 'message' },
  'GET /api/v1/emails/{id}': { kind: 'item', thing: 'message', own: 200 },
  'GET /api/v1/emails/{id}/events': { kind: 'item', thing: 'message', own: 200 },
  'GET /api/v1/emails/{id}/attempts': { kind: 'item', thing: 'message', own: 200 },
  'GET /api/v1/emails/{id}/raw': { kind: 'item', thing: 'message', own: 200 },
  'GET /api/v1/emails/{id}/preview': { kind: 'item', thing: 'message', own: 200 },
  'PATCH /api/v1/emails/{id}': { kind: 'item', thing: 'message', own: 200, body: { scheduled_at: later() } },
  'POST /api/v1/emails/{id}/cancel': { kind: 'item', thing: 'message', own: 200, body: {} },
  'POST /api/v1/emails/{id}/retry': { kind: 'item', thing: 'message', own: 200, body: {} },
  'POST /api/v1/emails/{id}/resend': { kind: 'item', thing: 'message', own: 202, body: { to: 'all' } },
  'GET /api/v1/events/stream': { kind: 'own', reason: 'a stream of the caller alone (see the tests of the live tail)' },
  'GET /api/v1/stats': { kind: 'own', reason: 'counts the messages of the caller (see the tests of reports)' },
  'GET /api/v1/inbox': { kind: 'list', thing: 'captured' },
  'GET /api/v1/inbox/{id}/raw': { kind: 'item', thing: 'captured', own: 200 },
  'GET /api/v1/inbox/{id}/preview': { kind: 'item', thing: 'captured', own: 200 },
  'GET /api/v1/admin/queues': { kind: 'admin' },
  'GET /api/v1/admin/health': { kind: 'admin' },
  'POST /api/v1/admin/queues/retry': { kind: 'admin', body: { site: 'example.com' } },
  'GET /api/v1/admin/sending-addresses': { kind: 'admin' },
  'GET /api/v1/admin/certificates': { kind: 'admin' },
  'GET /api/v1/admin/resources': { kind: 'admin' },
  'GET /api/v1/limits': { kind: 'own', reason: 'the day of the caller alone (see the tests of the limits)' },
}
