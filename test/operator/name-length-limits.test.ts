/** The longest names that Kubernetes and the accounts permit, and names derived from them. */
import { expect, test } from 'vitest'
import { createLoginLimiter, loginLimits } from '../../services/accounts/login-limiter.ts'
import { SmtpLogins } from '../../services/mail/credentials/check-smtp-login.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, ensureNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { operatorUnderTest } from '../support/kubernetes/operator-under-test.ts'

/** A name of this length that no other test uses. */
function nameOf(length: number): string {
  return `n${process.pid.toString(36)}${Date.now().toString(36)}`.padEnd(length, 'x')
}

/** An operator for a namespace whose name has this length, with an accepted MailDomain `example` in it. */
async function inNamespaceOf(length: number) {
  const namespace = nameOf(length)
  const admin = adminClient(sharedApiServer())
  await ensureNamespace(admin, namespace)
  await admin.close()
  const operator = await operatorUnderTest({
    server: sharedApiServer(),
    mongoUri: sharedMongoUri(),
    namespaces: [namespace],
  })
  await operator.apply('MailDomain', 'example', { domainName: 'example.com' }, {}, namespace)
  const { status } = await operator.condition('MailDomain', 'example', 'Accepted', 'True', namespace)
  return { operator, namespace, owner: status?.owner }
}

onApiServer('the limits of names', () => {
  test.each([60, 61, 63])(
    'a namespace with a name of %i characters gets an account, a domain and a token',
    async length => {
      const { operator, namespace, owner } = await inNamespaceOf(length)
      expect(owner).toBe(`k8s-${namespace}`)
      await operator.apply('APIToken', 'ci', { domainRef: { name: 'example' } }, {}, namespace)
      await operator.condition('APIToken', 'ci', 'Ready', 'True', namespace)
    },
  )

  test('an owner may have the longest name of an account', async () => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri() })
    const username = nameOf(128)
    await giveUser(operator.mongo.db, { username })
    await operator.allowOwners(username)
    await operator.apply('MailDomain', 'example', { domainName: 'example.com', owner: { username } })
    const { status } = await operator.condition('MailDomain', 'example', 'Accepted', 'True')
    expect(status?.owner).toBe(username)
  })

  test.each([64, 65, 253])('a resource with a name of %i characters gets a login that works', async length => {
    const { operator, namespace } = await inNamespaceOf(63)
    const name = nameOf(length)
    await operator.apply(
      'SMTPCredential',
      name,
      { domainRef: { name: 'example' }, secret: { name: 'login' } },
      {},
      namespace,
    )
    const { status } = await operator.condition('SMTPCredential', name, 'Ready', 'True', namespace)
    expect(status?.username).toBe(`${name}@${namespace}`)
    const { username = '', password = '' } = (await operator.secret('login', namespace)) ?? {}
    const { db } = operator.mongo
    await ensureIndexes(db, [loginLimits])
    const { clock, log, secrets, metrics } = operator.foundation
    const limiter = createLoginLimiter({ db, metrics, channel: 'smtp' })
    const logins = new SmtpLogins({ db, clock, log, metrics, secrets, limiter })
    expect(await logins.logIn(username, password, '192.0.2.1')).toHaveProperty('userId')
  })

  test.each([
    ['SMTPCredential', 'smtp', 248, 249],
    ['APIToken', 'token', 247, 248],
    ['App', 'app', 249, 250],
    ['WebhookEndpoint', 'webhook', 245, 246],
  ])(
    'a %s reports WriteRefused when the suffix -%s makes the name of its Secret too long',
    async (kind, suffix, fits, long) => {
      const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri() })
      const spec = (appKey: string) => {
        if (kind === 'App') return { appKey, appName: appKey }
        const url = 'https://hooks.example.com'
        return kind === 'WebhookEndpoint' ? { url } : { domainRef: { name: 'example' } }
      }
      await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
      const name = nameOf(fits)
      await operator.apply(kind, name, spec('fits'))
      await operator.condition(kind, name, 'Ready', 'True')
      expect(await operator.secret(`${name}-${suffix}`)).toBeDefined()
      const longer = nameOf(long)
      await operator.apply(kind, longer, spec('long'))
      const { status } = await operator.condition(kind, longer, 'SecretSynced', 'False')
      expect(status?.conditions?.[0]).toMatchObject({
        type: 'Ready',
        reason: 'WriteRefused',
        message: expect.stringMatching(/must be no more than 253 /),
      })
    },
  )
})
