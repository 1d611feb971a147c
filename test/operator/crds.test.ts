/** The CRDs on a real API server: every rule with an object that it accepts and one that it rejects. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type KubeClient, KubeError } from '../../operator/kube/client.ts'
import { listPath } from '../../operator/kube/object-paths.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { kinds } from '../../operator/resources/kinds.ts'
import { generatedFiles, staleFiles } from '../../scripts/crds.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { kubectlProgram } from '../support/programs/programs.ts'

const run = promisify(execFile)

/** A valid object of each kind. */
const valid = {
  DNSProvider: { type: 'cloudflare', secretRef: { name: 'dns' } },
  MailDomain: { domainName: 'example.com' },
  SMTPCredential: { domainRef: { name: 'example' } },
  APIToken: { domainRef: { name: 'example' } },
  App: { appKey: 'shop', appName: 'Shop' },
  SubscriptionPlan: { appRef: { name: 'shop' }, name: 'Pro', price: '19.90', durationDays: 30 },
  FeatureSwitch: { appRef: { name: 'shop' }, name: 'dark-mode', value: '1' },
  Template: { subject: 'Hello', text: 'Hello' },
  WebhookEndpoint: { url: 'https://hooks.example.com/mail' },
} as const

const configMapKey = { configMapKeyRef: { name: 'parts', key: 'mail.html' } }

const GUID = '11111111-2222-3333-4444-555555555555'

type KindName = keyof typeof valid

function plural(kind: KindName): string {
  const found = kinds.find(candidate => candidate.kind === kind)
  if (!found) throw new Error(`no kind ${kind}`)
  return found.plural
}

test('crds/ and docs/resources.md are up to date with the schemas', async () => {
  expect(await staleFiles()).toEqual([])
  expect([...generatedFiles().keys()]).toHaveLength(kinds.length + 1)
})

onApiServer('custom resource definitions', () => {
  let admin: KubeClient
  let namespace: string
  beforeAll(async () => {
    admin = adminClient(sharedApiServer())
    namespace = await newNamespace(admin)
  })
  afterAll(() => admin.close())

  const create = (kind: KindName, spec: object, name = 'x', dryRun = 'All') =>
    admin.request<{ spec: Record<string, unknown> }>({
      method: 'POST',
      path: listPath(plural(kind), namespace),
      query: { dryRun: dryRun || undefined, fieldValidation: 'Strict' },
      body: { apiVersion: API_VERSION, kind, metadata: { name, namespace }, spec },
    })
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => 'accepted',
      (error: unknown) => (error instanceof KubeError ? error.message : Promise.reject(error)),
    )

  test.each(Object.entries(valid) as [KindName, object][])(
    '%s: accepts an object with its required fields only',
    async (kind, spec) => {
      await create(kind, spec)
    },
  )

  test('the API server sets the same defaults as the schema', async () => {
    for (const [kind, spec] of Object.entries(valid) as [KindName, object][]) {
      const stored = await create(kind, spec)
      const definition = kinds.find(candidate => candidate.kind === kind)
      expect(stored.spec).toEqual(definition?.spec.parse(spec))
    }
  })

  const manage = { managementPolicy: 'Manage', providerRef: { name: 'p' } }
  const update = { server: '192.0.2.1:53', keyName: 'k' }
  test.each<[KindName, string, object, object, string]>([
    [
      'MailDomain',
      'Manage needs a provider',
      { dns: manage },
      { dns: { managementPolicy: 'Manage' } },
      'needs a providerRef',
    ],
    ['MailDomain', 'lower case names', { domainName: 'a.example.com' }, { domainName: 'Example.com' }, 'should match'],
    ['MailDomain', 'two labels', { domainName: 'xn--bcher-kva.example' }, { domainName: 'localhost' }, 'should match'],
    [
      'MailDomain',
      'known policies',
      { dmarc: { policy: 'reject' } },
      { dmarc: { policy: 'maybe' } },
      'Unsupported value',
    ],
    [
      'MailDomain',
      'at most ten includes',
      { spf: { includes: ['a.example'] } },
      { spf: { includes: Array.from({ length: 11 }, (_, i) => `a${i}.example`) } },
      'must have at most 10',
    ],
    [
      'MailDomain',
      'no include twice',
      { spf: { includes: ['a.example', 'b.example'] } },
      { spf: { includes: ['a.example', 'a.example'] } },
      'Duplicate value',
    ],
    [
      'MailDomain',
      'SPF mechanisms with their value',
      {
        spf: {
          mechanisms: [
            'ip4:192.0.2.0/24',
            'ip6:2001:db8::/32',
            'a:mail.example',
            'mx:a.example',
            'exists:%{i}.x.example',
          ],
        },
      },
      { spf: { mechanisms: ['redirect=_spf.example'] } },
      'should match',
    ],
    [
      'MailDomain',
      'ten SPF terms together',
      { spf: { includes: ['a.example'], mechanisms: Array.from({ length: 9 }, (_, i) => `ip4:192.0.2.${i}`) } },
      { spf: { includes: ['a.example'], mechanisms: Array.from({ length: 10 }, (_, i) => `ip4:192.0.2.${i}`) } },
      'includes and mechanisms are at most 10 together',
    ],
    [
      'MailDomain',
      'an SPF record ends in ~all or -all',
      { spf: { all: '-all' } },
      { spf: { all: '+all' } },
      'Unsupported value',
    ],
    [
      'MailDomain',
      'known record policies',
      { dns: { records: { dmarc: 'Guidance', spf: 'Managed', dkim: 'Guidance', verification: 'Guidance' } } },
      { dns: { records: { dmarc: 'None' } } },
      'Unsupported value',
    ],
    [
      'MailDomain',
      'known return paths',
      { returnPath: 'Shared', dns: { records: { returnPath: 'Guidance' } } },
      { returnPath: 'shared' },
      'Unsupported value',
    ],
    [
      'MailDomain',
      'tracking that is on or off',
      { tracking: { opens: true }, dns: { records: { tracking: 'Guidance' } } },
      { tracking: { opens: 'yes' } },
      'boolean',
    ],
    ['MailDomain', 'known modes of delivery', { delivery: 'Capture' }, { delivery: 'capture' }, 'Unsupported value'],
    [
      'MailDomain',
      'an address with a redirect',
      { delivery: 'Redirect', redirectTo: 'qa@example.net' },
      { delivery: 'Redirect' },
      'needed with delivery Redirect',
    ],
    [
      'MailDomain',
      'an address with a redirect only',
      { delivery: 'Live' },
      { delivery: 'Capture', redirectTo: 'qa@example.net' },
      'only then',
    ],
    [
      'MailDomain',
      'one address of a redirect',
      { delivery: 'Redirect', redirectTo: 'qa@example.net' },
      { delivery: 'Redirect', redirectTo: 'qa and others' },
      'should match',
    ],
    [
      'APIToken',
      'scopes of an inbox',
      { scopes: ['inbox:read', 'inbox:write'] },
      { scopes: ['inbox'] },
      'Unsupported value',
    ],
    [
      'MailDomain',
      'known records of a return path',
      { returnPathRecords: 'MX' },
      { returnPathRecords: 'mx' },
      'Unsupported value',
    ],
    [
      'MailDomain',
      'a TTL of a minute',
      { dns: { ttlSeconds: 60 } },
      { dns: { ttlSeconds: 59 } },
      'greater than or equal',
    ],
    [
      'MailDomain',
      'a TTL of a day',
      { dns: { ttlSeconds: 86_400 } },
      { dns: { ttlSeconds: 86_401 } },
      'less than or equal',
    ],
    ['MailDomain', 'no unknown field', {}, { dnss: {} }, 'unknown field'],
    [
      'DNSProvider',
      'rfc2136 has its member',
      { type: 'rfc2136', rfc2136: update },
      { type: 'rfc2136' },
      'needs the member rfc2136',
    ],
    [
      'DNSProvider',
      'webhook has its member, and needs no Secret',
      { type: 'webhook', webhook: { url: 'http://hook.dns.svc:8888', zones: ['example.com'] }, secretRef: undefined },
      { type: 'webhook' },
      'needs the member webhook',
    ],
    [
      'DNSProvider',
      'the identity of the pods for clouds that have one',
      { type: 'route53', workloadIdentity: true, secretRef: undefined, route53: { hostedZoneId: 'Z2FDTNDATAQYW2' } },
      { type: 'cloudflare', workloadIdentity: true, secretRef: undefined },
      'workloadIdentity is for',
    ],
    [
      'DNSProvider',
      'the identity of the pods or a Secret',
      { type: 'route53', workloadIdentity: false },
      { type: 'route53', workloadIdentity: true },
      'workloadIdentity is for',
    ],
    [
      'DNSProvider',
      'azure has its ids with a Secret, and none with the identity of the pods',
      { type: 'azure', secretRef: undefined, workloadIdentity: true, azure: { subscriptionId: GUID } },
      { type: 'azure', azure: { subscriptionId: GUID } },
      'azure needs tenantId and clientId',
    ],
    ['DNSProvider', 'others need a Secret', {}, { secretRef: undefined }, 'needs secretRef'],
    [
      'DNSProvider',
      'an address without login and query',
      { type: 'webhook', webhook: { url: 'https://dns.example.com/hook' } },
      { type: 'webhook', webhook: { url: 'https://user:password@dns.example.com/' } },
      'should match',
    ],
    [
      'DNSProvider',
      'no member of another type',
      { type: 'rfc2136', rfc2136: update },
      { type: 'aliyun', rfc2136: update },
      'belongs to type rfc2136',
    ],
    [
      'DNSProvider',
      'cloudflare only with its type',
      { cloudflare: { zoneId: 'a'.repeat(32) } },
      { type: 'dnspod', cloudflare: {} },
      'belongs to type cloudflare',
    ],
    [
      'DNSProvider',
      'a server',
      { type: 'rfc2136', rfc2136: { ...update, server: '[2001:db8::1]:53' } },
      { type: 'rfc2136', rfc2136: { ...update, server: 'a b' } },
      'should match',
    ],
    [
      'SMTPCredential',
      'networks',
      { allowedCIDRs: ['10.0.0.0/8', '2001:db8::/32'] },
      { allowedCIDRs: ['10.0.0.1'] },
      'each entry is a network',
    ],
    [
      'SMTPCredential',
      'addresses as senders',
      { allowedSenders: ['shop@example.com', '@example.com', 'bücher@xn--bcher-kva.example'] },
      { allowedSenders: ['shop@example.com', 'not-an-address'] },
      'each entry of allowedSenders is an address like shop@example.com',
    ],
    [
      'SMTPCredential',
      'an address as fallback',
      { fallbackSender: 'root@example.com' },
      { fallbackSender: '@example.com' },
      'fallbackSender is an address',
    ],
    ['APIToken', 'known endpoints', { endpoint: 'Cluster' }, { endpoint: 'Internal' }, 'Unsupported value'],
    ['SMTPCredential', 'limits', { messagesPerHour: 1_000_000 }, { messagesPerHour: 1_000_001 }, 'less than or equal'],
    [
      'SMTPCredential',
      'a rate as a decimal',
      { sendingLimits: { recipientsPerSecond: '0.01', burst: 1 } },
      { sendingLimits: { recipientsPerSecond: '0.001' } },
      'should match',
    ],
    [
      'SMTPCredential',
      'a rate in its range',
      { sendingLimits: { recipientsPerSecond: '100000' } },
      { sendingLimits: { recipientsPerSecond: '100000.01' } },
      'recipientsPerSecond is between 0.01 and 100000',
    ],
    [
      'MailDomain',
      'a rate above zero',
      { sendingLimits: {} },
      { sendingLimits: { recipientsPerSecond: '0' } },
      'recipientsPerSecond is between 0.01 and 100000',
    ],
    [
      'MailDomain',
      'a burst of a rate',
      { sendingLimits: { recipientsPerSecond: '2', burst: 10, recipientsPerHour: 100, recipientsPerDay: 1_000 } },
      { sendingLimits: { burst: 10, recipientsPerHour: 100 } },
      'burst needs recipientsPerSecond',
    ],
    [
      'MailDomain',
      'limits above zero',
      { sendingLimits: { recipientsPerDay: 1_000_000_000 } },
      { sendingLimits: { recipientsPerDay: 0 } },
      'greater than or equal to 1',
    ],
    ['SMTPCredential', 'a plain user name', { username: 'mail.shop' }, { username: 'mail@shop' }, 'should match'],
    [
      'APIToken',
      'rotation before the end',
      { validForDays: 30, rotateBeforeDays: 7 },
      { validForDays: 30, rotateBeforeDays: 30 },
      'must be smaller',
    ],
    ['APIToken', 'rotation needs an end', {}, { rotateBeforeDays: 1 }, 'must be smaller'],
    [
      'APIToken',
      'scopes of the domain or of the account',
      { scopes: ['templates:write', 'webhooks:read', 'domains:read'] },
      { scopes: ['emails:send', 'templates:write'] },
      'need a token of their own',
    ],
    [
      'APIToken',
      'no scope that makes logins',
      { scopes: ['suppressions:write'] },
      { scopes: ['smtp:write'] },
      'Unsupported',
    ],
    ['APIToken', 'networks', { allowedCIDRs: ['10.0.0.0/8'] }, { allowedCIDRs: ['10.0.0.1'] }, 'is a network like'],
    [
      'APIToken',
      'capture by a live token',
      { capture: true },
      { capture: true, mode: 'Test' },
      'a test token sends nothing',
    ],
    ['SMTPCredential', 'disabled or not', { disabled: true }, { disabled: 'yes' }, 'Invalid value'],
    [
      'SubscriptionPlan',
      'renewal of a plan with a duration',
      { autoRenewAllowed: true },
      { autoRenewAllowed: true, durationDays: 0 },
      'a permanent plan',
    ],
    [
      'FeatureSwitch',
      'schedules that change something',
      { schedules: [{ at: '2027-01-01T00:00:00Z', enabled: false }] },
      { schedules: [{ at: '2027-01-01T00:00:00Z' }] },
      'changes value, enabled or rollout',
    ],
    ...['2027-01-01', '2027-13-01T00:00:00Z', '2027-01-01T00:00:00', 'soon'].map(
      (bad): [KindName, string, object, object, string] => [
        'FeatureSwitch',
        `the time of a schedule, not ${bad}`,
        { schedules: [{ at: '2027-01-01T00:00:00.5+08:00', value: '0' }] },
        { schedules: [{ at: bad, value: '0' }] },
        'spec.schedules[0].at',
      ],
    ),
    ['APIToken', 'at least one scope', { scopes: ['emails:read'] }, { scopes: [] }, 'at least 1'],
    ['App', 'an app key', { appKey: 'shop_2-x' }, { appKey: '2shop' }, 'should match'],
    ['App', 'signatures are demanded or not', { requireSignature: true }, { requireSignature: 'yes' }, 'Invalid value'],
    ...[
      'notice',
      'a@b@shop.example',
      'Shop <notice@shop.example>',
      'a..b@shop.example',
      '.a@shop.example',
      'notice@localhost',
      'notice@Shop.example',
      'notice@shop.example\r\nBcc: b@shop.example',
      'notice@shop.example,b@shop.example',
      '',
    ].map((bad): [KindName, string, object, object, string] => [
      'App',
      `a sender's address, not ${JSON.stringify(bad)}`,
      { mailFrom: "Shop.Team_1+x'y-z@mail.xn--bcher-kva.example" },
      { mailFrom: bad },
      'should match',
    ]),
    [
      'App',
      "a sender's address of 254 characters",
      { mailFrom: `${'a'.repeat(241)}@shop.example` },
      { mailFrom: `${'a'.repeat(242)}@shop.example` },
      'may not be more than 254',
    ],
    ['SubscriptionPlan', 'money with cents', { price: '999999.99' }, { price: '1.999' }, 'should match'],
    [
      'SubscriptionPlan',
      'a real discount',
      { originalPrice: '19.90' },
      { originalPrice: '19.89' },
      'must not be lower',
    ],
    ['SubscriptionPlan', 'permanent or timed', { durationDays: 0 }, { durationDays: -1 }, 'greater than or equal'],
    ['FeatureSwitch', 'boolean values', { value: '0' }, { value: 'true' }, '"0" or "1"'],
    [
      'FeatureSwitch',
      'number values',
      { type: 'number', value: '-1.5' },
      { type: 'number', value: '1e5' },
      'decimal number',
    ],
    ...(['json', 'changelog'] as const).flatMap(type =>
      ['not json', '[1]', '{a:1}', '"text"', '{"a":1} {"b":2', ''].map(
        (bad): [KindName, string, object, object, string] => [
          'FeatureSwitch',
          `the value of ${type} is a JSON object, not ${JSON.stringify(bad)}`,
          { type, value: ' {"a": [1, -2.5e3, {"b": null}], "c\\"": "\\u00e9"}\n' },
          { type, value: bad },
          'is a JSON object',
        ],
      ),
    ),
    ['FeatureSwitch', 'a share in percent', { rollout: '12.5' }, { rollout: '100.1' }, 'should match'],
    ['Template', 'a part once', { html: 'x' }, { textFrom: configMapKey }, 'text and textFrom exclude each other'],
    ['Template', 'a subject', { subject: 'x' }, { subject: '' }, 'should be at least 1 char'],
    ['Template', 'a name of the API', { templateName: 'a.b-c_1' }, { templateName: 'A b' }, 'should match'],
    [
      'Template',
      'a name of a variable',
      { variables: [{ key: 'a_1' }] },
      { variables: [{ key: '1a' }] },
      'should match',
    ],
    [
      'Template',
      'each variable once',
      { variables: [{ key: 'a' }, { key: 'b' }] },
      { variables: [{ key: 'a' }, { key: 'a' }] },
      'Duplicate value',
    ],
    [
      'Template',
      'the default of a number',
      { variables: [{ key: 'a', type: 'number', default: '-1.5e3' }] },
      { variables: [{ key: 'a', type: 'number', default: 'one' }] },
      'the default of a number is a number',
    ],
    [
      'Template',
      'the default of a boolean',
      { variables: [{ key: 'a', type: 'boolean', default: 'false' }] },
      { variables: [{ key: 'a', type: 'boolean', default: 'no' }] },
      'the default of a boolean is true or false',
    ],
    [
      'Template',
      'a key of a ConfigMap',
      { htmlFrom: configMapKey },
      { htmlFrom: { configMapKeyRef: { name: 'a', key: '../b' } } },
      'should match',
    ],
    ['WebhookEndpoint', 'an address', { url: 'http://a.example:80' }, { url: 'ftp://a.example' }, 'should match'],
    ['WebhookEndpoint', 'known events', { events: ['email.failed'] }, { events: ['email.lost'] }, 'Unsupported value'],
    ['WebhookEndpoint', 'no test event', { events: [] }, { events: ['webhook.test'] }, 'Unsupported value'],
    [
      'WebhookEndpoint',
      'events of an app with appRef',
      { appRef: { name: 'shop' }, events: ['subscription.created', 'user.deleted'] },
      { appRef: { name: 'shop' }, events: ['email.failed'] },
      'events are those of an app',
    ],
    ['WebhookEndpoint', 'events of mail', {}, { events: ['plan.updated'] }, 'those of mail without it'],
    ...Object.entries({
      owner: { username: 'ann' },
      domainRefs: [{ name: 'example' }],
      format: 'Resend',
      displayName: 'Mail',
      noticeEmail: 'ops@example.com',
    }).map(([field, value]): [KindName, string, object, object, string] => [
      'WebhookEndpoint',
      `${field} for mail`,
      { [field]: value },
      { [field]: value, appRef: { name: 'shop' } },
      `${field} is for events of mail`,
    ]),
  ])('%s: %s', async (kind, _what, good, bad, message) => {
    await create(kind, { ...valid[kind], ...good })
    expect(await refusal(create(kind, { ...valid[kind], ...bad }))).toContain(message)
  })

  test.each<[KindName, string, object, object, string]>([
    ['MailDomain', 'domainName', {}, { domainName: 'example.org' }, 'domainName cannot be changed'],
    [
      'MailDomain',
      'owner',
      { owner: { username: 'ann' } },
      { owner: { username: 'bob' } },
      'owner.username cannot be changed',
    ],
    ['MailDomain', 'added owner', {}, { owner: { username: 'bob' } }, 'owner cannot be added'],
    ['DNSProvider', 'type', {}, { type: 'aliyun' }, 'type cannot be changed'],
    ['SMTPCredential', 'domainRef', {}, { domainRef: { name: 'other' } }, 'domainRef cannot be changed'],
    ['SMTPCredential', 'username', { username: 'abc' }, { username: 'abd' }, 'username cannot be changed'],
    [
      'SMTPCredential',
      'removed username',
      { username: 'abc' },
      { username: null },
      'username cannot be added or removed',
    ],
    [
      'SMTPCredential',
      'secret name',
      { secret: { name: 'abc' } },
      { secret: { name: 'abd' } },
      'secret.name cannot be changed',
    ],
    ['SMTPCredential', 'added secret name', {}, { secret: { name: 'abd' } }, 'name cannot be added'],
    ['APIToken', 'domainRef', {}, { domainRef: { name: 'other' } }, 'domainRef cannot be changed'],
    ['App', 'appKey', {}, { appKey: 'other' }, 'appKey cannot be changed'],
    ['SubscriptionPlan', 'appRef', {}, { appRef: { name: 'other' } }, 'appRef cannot be changed'],
    ['SubscriptionPlan', 'name', {}, { name: 'other' }, 'name cannot be changed'],
    ['APIToken', 'mode', {}, { mode: 'Test' }, 'mode cannot be changed'],
    ['FeatureSwitch', 'appRef', {}, { appRef: { name: 'other' } }, 'appRef cannot be changed'],
    ['FeatureSwitch', 'name', {}, { name: 'other' }, 'name cannot be changed'],
    ['Template', 'templateName', { templateName: 'a' }, { templateName: 'b' }, 'templateName cannot be changed'],
    ['Template', 'added templateName', {}, { templateName: 'b' }, 'templateName cannot be added'],
    ['Template', 'added owner', {}, { owner: { username: 'bob' } }, 'owner cannot be added'],
    ['WebhookEndpoint', 'added appRef', {}, { appRef: { name: 'shop' } }, 'appRef cannot be added'],
    ['WebhookEndpoint', 'owner', { owner: { username: 'a' } }, { owner: { username: 'b' } }, 'cannot be changed'],
    ['WebhookEndpoint', 'added secret name', {}, { secret: { name: 'abd' } }, 'name cannot be added'],
  ])('%s: rejects a change: %s', async (kind, what, first, change, message) => {
    const name = `fixed-${kind.toLowerCase()}-${what.replaceAll(/\W/g, '-').toLowerCase()}`
    await create(kind, { ...valid[kind], ...first }, name, '')
    const path = `${listPath(plural(kind), namespace)}/${name}`
    const patch = (spec: object) => admin.request({ method: 'PATCH', path, body: { spec }, patch: 'merge' })
    await patch(first)
    expect(await refusal(patch(change))).toContain(message)
  })

  test('the API server ignores a status in a create request and accepts one through the subresource', async () => {
    const body = {
      apiVersion: API_VERSION,
      kind: 'App',
      metadata: { name: 'st' },
      spec: { ...valid.App, appKey: 'st-1' },
    }
    const path = listPath('apps', namespace)
    const forged = { ...body, status: { appId: 'forged', observedGeneration: 1 } }
    const made = await admin.request<{ status: object }>({ method: 'POST', path, body: forged })
    // The default, by which kstatus takes a new resource for one in progress.
    expect(made.status).toEqual({ observedGeneration: -1 })
    await admin.request({
      method: 'PATCH',
      path: `${path}/st/status`,
      body: { status: { appId: 'real' } },
      patch: 'merge',
    })
    const read = await admin.request<{ status: object }>({ method: 'GET', path: `${path}/st` })
    expect(read.status).toMatchObject({ appId: 'real' })
  })

  /** Runs commands of kubectl; `shell` has it as `kubectl`. */
  async function startKubectl() {
    const folder = await mkdtemp(join(tmpdir(), 'pw-kubectl-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const { url, ca, admin: token } = sharedApiServer()
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
      ],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace } }],
      'current-context': 'x',
    }
    await writeFile(join(folder, 'config'), JSON.stringify(config))
    const flags = [`--kubeconfig=${folder}/config`, `--cache-dir=${folder}`]
    return {
      kubectl: async (...args: string[]) => (await run(kubectlProgram(), [...flags, ...args])).stdout,
      shell: (script: string) =>
        run('bash', ['-euc', `kubectl() { ${kubectlProgram()} ${flags.join(' ')} "$@"; }\n${script}`]),
    }
  }

  test('the documented commands release every resource where no operator runs', async () => {
    const guide = await readFile('docs/install.md', 'utf8')
    const script = /no process removes the finalizers.*?```sh\n(.*?)```/s.exec(guide)?.[1] ?? ''
    const { kubectl, shell } = await startKubectl()
    const name = `stuck-${namespace}`
    for (const kind of ['MailDomain', 'Template', 'WebhookEndpoint'] as const) await create(kind, valid[kind], name, '')
    const spec = {
      type: 'cloudflare',
      secretRef: { name: 'dns', namespace },
      allowedDomains: ['example.com'],
      allowedNamespaces: { names: ['team'] },
    }
    await admin.request({
      method: 'POST',
      path: listPath('clusterdnsproviders'),
      body: { apiVersion: API_VERSION, kind: 'ClusterDNSProvider', metadata: { name }, spec },
    })
    const plurals = ['maildomains', 'templates', 'webhookendpoints', 'clusterdnsproviders']
    const names = plurals.map(plural => `${plural}.postwright.dev/${name}`)
    for (const one of names) {
      await kubectl('patch', one, '--type=merge', '--patch', '{"metadata":{"finalizers":["postwright.dev/cleanup"]}}')
      await kubectl('delete', one, '--wait=false')
    }
    // Other tests use the same server.
    await shell(script.replace('while read', `grep ${name} | while read`))
    for (const one of names) await expect(kubectl('get', one)).rejects.toThrow('NotFound')
  })

  test('kubectl explains a field, lists the category and prints the columns', async () => {
    const { kubectl } = await startKubectl()
    await create('MailDomain', valid.MailDomain, 'shown', '')
    expect(await kubectl('explain', 'mdom.spec.dns.conflictPolicy')).toMatch(/Fail: leave\s+it\s+and\s+report\s+it/)
    expect(await kubectl('get', 'mdom', 'shown')).toMatch(
      /^NAME +DOMAIN +VERIFIED +DNSSYNCED +READY +REASON +AGE\nshown +example\.com/,
    )
    await create('App', valid.App, 'shown', '')
    // Argo CD has the short name `app`.
    for (const name of ['pwapp', 'mapp']) expect(await kubectl('get', name, 'shown')).toContain('shop')
    expect(await kubectl('get', 'postwright-all')).toContain('maildomain.postwright.dev/shown')
  })
})
