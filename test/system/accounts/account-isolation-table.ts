/** How each operation of the mail API separates accounts. Every new operation needs an entry. */

/** What an account owns; the test creates one of each for two accounts. */
export type ResourceType =
  | 'domain'
  | 'credential'
  | 'token'
  | 'audit_entry'
  | 'message'
  | 'captured'
  | 'dns_account'
  | 'suppression'
  | 'webhook'
  | 'template'

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
const byMail = 'is for callers without a session; a token in a mail selects the account (see recovery.test.ts)'
const byProvider = 'the login provider selects the account (see oidc-login.test.ts)'
const byPasskey = 'acts on passkeys of the account only; a foreign one is 404 (see passkeys.test.ts)'
const self = 'reads and writes only the account of the session (see the tests of accounts)'

const views = 'are of the user in its account; foreign ones are 404 (see message-views.test.ts)'

const members = 'acts on accounts of the user; foreign members and invitations are 404 (see members.test.ts)'

const queue = 'acts on mail of the caller; foreign holds, domains and messages are 404 (see the tests of queue control)'
const limits = 'acts on the caller; a foreign login or domain is 404 (see the tests of the limits of sending)'

/** Operations for callers without a session. */
export const PUBLIC: ReadonlySet<string> = new Set([
  'POST /api/v1/session',
  'POST /api/v1/session/second-factor',
  'GET /api/v1/session/methods',
  'POST /api/v1/session/oidc',
  'POST /api/v1/session/oidc/complete',
  'POST /api/v1/session/passkey/options',
  'POST /api/v1/session/passkey',
  'POST /api/v1/session/password-reset',
  'POST /api/v1/session/password-reset/complete',
  'POST /api/v1/session/email-confirmation',
  'POST /api/v1/session/invitation',
  'POST /api/v1/session/invitation/accept',
  'POST /api/v1/session/member-invitation',
  'POST /api/v1/session/member-invitation/accept',
])

/** One row for each operation. */
export const ISOLATION: Readonly<Record<string, Row>> = {
  'POST /api/v1/session': { kind: 'own', reason: self },
  'GET /api/v1/session': { kind: 'own', reason: self },
  'DELETE /api/v1/session': { kind: 'own', reason: self },
  'GET /api/v1/me': { kind: 'own', reason: self },
  'PATCH /api/v1/me': { kind: 'own', reason: self },
  'PUT /api/v1/me/password': { kind: 'own', reason: self },
  'POST /api/v1/session/password-reset': { kind: 'own', reason: byMail },
  'POST /api/v1/session/password-reset/complete': { kind: 'own', reason: byMail },
  'POST /api/v1/session/email-confirmation': { kind: 'own', reason: byMail },
  'POST /api/v1/session/invitation': { kind: 'own', reason: byMail },
  'POST /api/v1/session/invitation/accept': { kind: 'own', reason: byMail },
  'POST /api/v1/session/member-invitation': { kind: 'own', reason: byMail },
  'POST /api/v1/session/member-invitation/accept': { kind: 'own', reason: byMail },
  'PUT /api/v1/session/account': { kind: 'own', reason: members },
  'GET /api/v1/me/accounts': { kind: 'own', reason: members },
  'POST /api/v1/me/accounts': { kind: 'own', reason: byMail },
  'DELETE /api/v1/me/accounts/{id}': { kind: 'own', reason: members },
  'GET /api/v1/members': { kind: 'own', reason: members },
  'PATCH /api/v1/members/{id}': { kind: 'own', reason: members },
  'DELETE /api/v1/members/{id}': { kind: 'own', reason: members },
  'GET /api/v1/member-invitations': { kind: 'own', reason: members },
  'POST /api/v1/member-invitations': { kind: 'own', reason: members },
  'POST /api/v1/member-invitations/{id}/resend': { kind: 'own', reason: members },
  'DELETE /api/v1/member-invitations/{id}': { kind: 'own', reason: members },
  'GET /api/v1/admin/invitations': { kind: 'admin' },
  'POST /api/v1/admin/invitations': { kind: 'admin', body: { email: 'mallory@example.net' } },
  'POST /api/v1/admin/invitations/{id}/resend': { kind: 'admin', body: {} },
  'DELETE /api/v1/admin/invitations/{id}': { kind: 'admin' },
  'POST /api/v1/session/second-factor': { kind: 'own', reason: 'a sealed challenge selects the account' },
  'GET /api/v1/session/methods': { kind: 'own', reason: 'is about the installation' },
  'POST /api/v1/session/oidc': { kind: 'own', reason: byProvider },
  'POST /api/v1/session/oidc/complete': { kind: 'own', reason: byProvider },
  'POST /api/v1/session/passkey/options': { kind: 'own', reason: byPasskey },
  'POST /api/v1/session/passkey': { kind: 'own', reason: byPasskey },
  'GET /api/v1/me/passkeys': { kind: 'own', reason: byPasskey },
  'POST /api/v1/me/passkeys/options': { kind: 'own', reason: byPasskey },
  'POST /api/v1/me/passkeys': { kind: 'own', reason: byPasskey },
  'PATCH /api/v1/me/passkeys/{id}': { kind: 'own', reason: byPasskey },
  'DELETE /api/v1/me/passkeys/{id}': { kind: 'own', reason: byPasskey },
  'GET /api/v1/me/second-factor': { kind: 'own', reason: self },
  'POST /api/v1/me/second-factor': { kind: 'own', reason: self },
  'POST /api/v1/me/second-factor/confirm': { kind: 'own', reason: self },
  'POST /api/v1/me/second-factor/disable': { kind: 'own', reason: self },
  'POST /api/v1/admin/users/{id}/remove-second-factor': { kind: 'admin', body: {} },
  'PUT /api/v1/me/email': { kind: 'own', reason: self },
  'GET /api/v1/me/sessions': { kind: 'own', reason: self },
  'DELETE /api/v1/me/sessions/{id}': {
    kind: 'own',
    reason: 'ends only sessions of the account (see sessions.test.ts)',
  },
  'POST /api/v1/me/sessions/end-others': { kind: 'own', reason: self },
  'GET /api/v1/admin/users': { kind: 'admin' },
  'POST /api/v1/admin/users': { kind: 'admin', body: { username: 'mallory' } },
  'GET /api/v1/admin/users/{id}': { kind: 'admin' },
  'PATCH /api/v1/admin/users/{id}': { kind: 'admin', body: { recipients_per_day: 0 } },
  'POST /api/v1/admin/users/{id}/suspend': { kind: 'admin', body: {} },
  'POST /api/v1/admin/users/{id}/unsuspend': { kind: 'admin', body: {} },
  'POST /api/v1/admin/users/{id}/reset-password': { kind: 'admin', body: {} },
  'POST /api/v1/admin/users/{id}/end-sessions': { kind: 'admin', body: {} },
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
  // 422: the domain was found, and a JSON object without fields is no report.
  'POST /api/v1/domains/{id}/reports': { kind: 'item', resource: 'domain', own: 422, body: {} },
  'GET /api/v1/domains/{id}/dmarc': { kind: 'item', resource: 'domain', own: 200 },
  'GET /api/v1/domains/{id}/tls-reports': { kind: 'item', resource: 'domain', own: 200 },
  'POST /api/v1/dns-accounts': { kind: 'own', reason: created },
  'GET /api/v1/dns-accounts': { kind: 'list', resource: 'dns_account' },
  'GET /api/v1/dns-accounts/{id}': { kind: 'item', resource: 'dns_account', own: 200 },
  // 503: the account was found, and its server does not answer.
  'PUT /api/v1/dns-accounts/{id}': { kind: 'item', resource: 'dns_account', own: 503, body: DEAD_SERVER },
  'POST /api/v1/dns-accounts/{id}/test': { kind: 'item', resource: 'dns_account', own: 200 },
  'DELETE /api/v1/dns-accounts/{id}': { kind: 'item', resource: 'dns_account', own: 204 },
  'GET /api/v1/emails/count': { kind: 'own', reason: 'counts messages of the caller (see message-list.test.ts)' },
  'GET /api/v1/emails/export': { kind: 'own', reason: 'the messages of the caller (see message-list.test.ts)' },
  'GET /api/v1/me/message-views': { kind: 'own', reason: views },
  'POST /api/v1/me/message-views': { kind: 'own', reason: views },
  'DELETE /api/v1/me/message-views/{id}': { kind: 'own', reason: views },
  'POST /api/v1/suppressions': { kind: 'own', reason: created },
  'POST /api/v1/suppressions/batch': { kind: 'own', reason: created },
  'POST /api/v1/suppressions/import': { kind: 'own', reason: created },
  'GET /api/v1/suppressions/export': { kind: 'own', reason: 'the list of the caller (see the tests of suppressions)' },
  'GET /api/v1/suppressions': { kind: 'list', resource: 'suppression' },
  'GET /api/v1/suppressions/{id}': { kind: 'item', resource: 'suppression', own: 200 },
  'DELETE /api/v1/suppressions/{id}': { kind: 'item', resource: 'suppression', own: 204 },
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
  'POST /api/v1/webhooks': { kind: 'own', reason: created },
  'GET /api/v1/webhooks': { kind: 'list', resource: 'webhook' },
  'GET /api/v1/webhooks/{id}': { kind: 'item', resource: 'webhook', own: 200 },
  'PATCH /api/v1/webhooks/{id}': { kind: 'item', resource: 'webhook', own: 200, body: { name: 'other' } },
  'DELETE /api/v1/webhooks/{id}': { kind: 'item', resource: 'webhook', own: 204 },
  'POST /api/v1/webhooks/{id}/rotate-secret': { kind: 'item', resource: 'webhook', own: 200 },
  'POST /api/v1/webhooks/{id}/test': { kind: 'item', resource: 'webhook', own: 200 },
  'GET /api/v1/webhooks/{id}/deliveries': { kind: 'item', resource: 'webhook', own: 200 },
  'GET /api/v1/webhooks/{id}/deliveries/{delivery}': { kind: 'item', resource: 'webhook', own: 200 },
  'POST /api/v1/webhooks/{id}/deliveries/{delivery}/replay': { kind: 'item', resource: 'webhook', own: 200 },
  'POST /api/v1/webhooks/{id}/replay': {
    ...{ kind: 'item', resource: 'webhook', own: 200 },
    body: { since: '2026-11-01T00:00:00Z' },
  },
  'POST /api/v1/templates': { kind: 'own', reason: created },
  'GET /api/v1/templates': { kind: 'list', resource: 'template' },
  'GET /api/v1/templates/{id}': { kind: 'item', resource: 'template', own: 200 },
  'PATCH /api/v1/templates/{id}': { kind: 'item', resource: 'template', own: 200, body: { subject: 'Other' } },
  'DELETE /api/v1/templates/{id}': { kind: 'item', resource: 'template', own: 204 },
  'POST /api/v1/templates/{id}/publish': { kind: 'item', resource: 'template', own: 200, body: {} },
  'POST /api/v1/templates/{id}/rollback': { kind: 'item', resource: 'template', own: 200, body: { version: 1 } },
  'GET /api/v1/templates/{id}/versions': { kind: 'item', resource: 'template', own: 200 },
  'GET /api/v1/templates/{id}/versions/{version}': { kind: 'item', resource: 'template', own: 200 },
  'POST /api/v1/templates/{id}/preview': { kind: 'item', resource: 'template', own: 200, body: {} },
  'GET /api/v1/template-previews/{id}': { kind: 'own', reason: 'see the tests of templates' },
  'POST /api/v1/templates/preview': { kind: 'own', reason: 'renders what the request has, and reads nothing' },
  'POST /api/send': { kind: 'send', body: mail },
  'POST /api/v1/emails': { kind: 'send', body: mail },
  'POST /api/v1/emails/batch': { kind: 'send', body: from => [mail(from)] },
  'POST /api/v1/emails/raw': { kind: 'send', body: raw },
  'GET /api/v1/emails': { kind: 'list', resource: 'message' },
  'GET /api/v1/emails/{id}': { kind: 'item', resource: 'message', own: 200 },
  'GET /api/v1/emails/{id}/events': { kind: 'item', resource: 'message', own: 200 },
  'GET /api/v1/emails/{id}/explain': { kind: 'item', resource: 'message', own: 200 },
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
  'GET /api/v1/stats/hours': { kind: 'own', reason: 'counts messages of the caller (see statistics.test.ts)' },
  'GET /api/v1/stats/failing-destinations': {
    kind: 'own',
    reason: 'the messages of the caller (see statistics.test.ts)',
  },
  'GET /api/v1/stats': { kind: 'own', reason: 'counts the messages of the caller (see the tests of reports)' },
  'GET /api/v1/domains/{id}/inbox/messages': { kind: 'item', resource: 'domain', own: 200 },
  'DELETE /api/v1/domains/{id}/inbox/messages': { kind: 'item', resource: 'domain', own: 200 },
  'GET /api/v1/domains/{id}/inbox/messages/{message}': { kind: 'item', resource: 'domain', own: 200 },
  'DELETE /api/v1/domains/{id}/inbox/messages/{message}': { kind: 'item', resource: 'domain', own: 204 },
  'GET /api/v1/domains/{id}/inbox/messages/{message}/raw': { kind: 'item', resource: 'domain', own: 200 },
  'GET /api/v1/domains/{id}/inbox/messages/{message}/preview': { kind: 'item', resource: 'domain', own: 200 },
  'GET /api/v1/domains/{id}/inbox/messages/{message}/attachments/{index}': {
    kind: 'item',
    resource: 'domain',
    own: 200,
  },
  'GET /api/v1/inbox': { kind: 'list', resource: 'captured' },
  'GET /api/v1/inbox/{id}/raw': { kind: 'item', resource: 'captured', own: 200 },
  'GET /api/v1/inbox/{id}/preview': { kind: 'item', resource: 'captured', own: 200 },
  'GET /api/v1/admin/queues': { kind: 'admin' },
  'GET /api/v1/admin/health': { kind: 'admin' },
  'POST /api/v1/admin/queues/retry': { kind: 'admin', body: { site: 'example.com' } },
  'GET /api/v1/admin/sending-addresses': { kind: 'admin' },
  'GET /api/v1/admin/certificates': { kind: 'admin' },
  'GET /api/v1/admin/resources': { kind: 'admin' },
  'GET /api/v1/queue/count': { kind: 'own', reason: queue },
  'GET /api/v1/admin/queue/count': { kind: 'admin' },
  'GET /api/v1/queue/holds': { kind: 'own', reason: queue },
  'POST /api/v1/queue/holds': { kind: 'own', reason: queue },
  'DELETE /api/v1/queue/holds/{id}': { kind: 'own', reason: queue },
  'GET /api/v1/queue/actions': { kind: 'own', reason: queue },
  'POST /api/v1/queue/actions': { kind: 'own', reason: queue },
  'GET /api/v1/admin/queue/holds': { kind: 'admin' },
  'POST /api/v1/admin/queue/holds': {
    kind: 'admin',
    body: { scope: 'destination', value: 'example.net', reason: 'test' },
  },
  'DELETE /api/v1/admin/queue/holds/{id}': { kind: 'admin' },
  'GET /api/v1/admin/queue/actions': { kind: 'admin' },
  'POST /api/v1/admin/queue/actions': {
    kind: 'admin',
    body: { action: 'retry', scope: 'destination', value: 'example.net' },
  },
  'GET /api/v1/sending-limits': { kind: 'own', reason: limits },
  'PUT /api/v1/sending-limits': { kind: 'own', reason: limits },
  'GET /api/v1/admin/users/{id}/sending-limits': { kind: 'admin' },
  'PUT /api/v1/admin/users/{id}/sending-limits': { kind: 'admin', body: { scope: 'account' } },
  'GET /api/v1/limits': { kind: 'own', reason: 'the daily quota of the caller only (see the tests of the limits)' },
}
