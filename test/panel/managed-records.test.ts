/** Records that Kubernetes resources manage: their badge says by which, they are read-only, and hidden credentials are named as the cluster's. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findUserByName } from '../../services/accounts/store/users.ts'
import { newId } from '../../services/platform/ids.ts'
import { giveDomain, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { startBrowser, type TestBrowser } from './support/browser.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'
import { ask } from './support/seed-through-api.ts'
import { catalogues, open, signedIn } from './support/user-actions.ts'

/** A record as a resource leaves it, and one of a user beside it. */
interface Case {
  /** Collection, and the field with the name. */
  stored: [collection: string, field: string]
  kind: string
  names: { managed: string; own: string }
  /** The list with both. */
  page: string
}

const CASES: readonly Case[] = [
  { stored: ['domains', 'name'], kind: 'MailDomain', names: names('.managed.example'), page: '/domains' },
  { stored: ['domains', 'name'], kind: 'MailDomain', names: names('.managed.example'), page: '/admin/domains' },
  { stored: ['credentials', 'username'], kind: 'SmtpCredential', names: names('-smtp'), page: '/smtp' },
  { stored: ['tokens', 'name'], kind: 'ApiToken', names: names('-token'), page: '/tokens' },
  { stored: ['templates', 'name'], kind: 'Template', names: names('-template'), page: '/templates' },
  { stored: ['mail_webhooks', 'name'], kind: 'WebhookEndpoint', names: names('-webhook'), page: '/webhooks' },
  { stored: ['users', 'username'], kind: 'Namespace', names: names('-user'), page: '/admin/users' },
  { stored: ['sub_plans', 'name'], kind: 'SubscriptionPlan', names: names('-plan'), page: '/apps/shop/plans' },
  { stored: ['sub_switches', 'name'], kind: 'FeatureSwitch', names: names('_switch'), page: '/apps/shop/switches' },
  { stored: ['sub_apps', 'app_name'], kind: 'App', names: names('-app'), page: '/apps' },
]

function names(suffix: string) {
  return { managed: `cluster${suffix}`, own: `own${suffix}` }
}

let service: PanelService
let browser: TestBrowser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startPanelService(), startBrowser()])
  const { page, leave } = await signedIn(browser, service.url, service.admin)
  await ask(page, 'POST', '/subscription-api/app_manage', { app_name: 'Shop', app_key: 'shop' })
  for (const name of ['cluster', 'own'] as const) await createAll(page, name)
  await leave()
  for (const { stored, kind, names } of CASES) await manage(stored, kind, names.managed)
})

afterAll(async () => {
  await browser?.stop()
  await service?.stop()
})

/** One record of each kind. */
async function createAll(page: Page, name: 'cluster' | 'own'): Promise<void> {
  const { db } = service.mongo
  const subscriptions = '/subscription-api'
  const url = `https://${name}.example.com/hook`
  const features = JSON.stringify({ features: [] })
  await giveUser(db, { username: `${name}-user` })
  for (const [path, body] of [
    ['/api/v1/domains', { name: `${name}.managed.example` }],
    ['/api/v1/smtp-credentials', { username: `${name}-smtp` }],
    ['/api/v1/tokens', { name: `${name}-token` }],
    ['/api/v1/templates', { name: `${name}-template`, subject: 'Hello', text: 'Hello.' }],
    ['/api/v1/webhooks', { name: `${name}-webhook`, url, events: ['email.delivered'] }],
    [`${subscriptions}/app_manage`, { app_name: `${name}-app`, app_key: `${name}-app` }],
    [
      `${subscriptions}/subscription_plan?app_key=shop`,
      { name: `${name}-plan`, price: '1.00', duration: 30, features },
    ],
    [
      `${subscriptions}/switch_manage?app_key=shop`,
      { name: `${name}_switch`, type: 'string', value: 'x', description: '', title: '' },
    ],
  ] as const)
    await ask(page, 'POST', path, body)
}

const resource = (kind: string, name: string) => ({ kind, namespace: 'web', name: name.replace(/\W|_/g, '-') })

async function manage([collection, field]: Case['stored'], kind: string, name: string): Promise<void> {
  const managed_by = { ...resource(kind, name), uid: newId('u') }
  const { matchedCount } = await service.mongo.db
    .collection(collection)
    .updateOne({ [field]: name }, { $set: { managed_by } })
  expect(matchedCount, `${collection}: ${name}`).toBe(1)
}

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  const labels = catalogues[language]

  test.each(CASES)(
    '$page shows which resource manages a record, and no badge for others',
    async ({ kind, names, page: path }) => {
      const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
      await open(page, path)
      const { namespace, name } = resource(kind, names.managed)
      const row = page.getByRole('row').filter({ hasText: names.managed })
      // The subscription API does not name the kind.
      const badge = row.getByRole('link', { name: new RegExp(`^(?:${kind}|Kubernetes) ${namespace}/${name}$`) })
      await badge.hover()
      await page.getByRole('tooltip').getByText(labels.ui.managedHint).waitFor()
      expect(await badge.getAttribute('href')).toBe(`/admin/resources?q=${encodeURIComponent(`${namespace}/${name}`)}`)
      const own = page.getByRole('row').filter({ hasText: names.own })
      await own.waitFor()
      expect(await own.getByText(/web\//).count()).toBe(0)
      expect(complaints).toEqual([])
      await leave()
    },
  )

  test('the page of a managed domain names the cluster for its DNS account and has nothing to change', async () => {
    const { db } = service.mongo
    const admin = await findUserByName(db, service.admin.username)
    const name = `${language.toLowerCase()}.cluster.example`
    const managed_by = { ...resource('MailDomain', name), uid: newId('u') }
    await giveDomain(db, admin?._id ?? '', name, { managed_by, dns_account_id: newId('dns') })
    const { page, complaints, leave } = await signedIn(browser, service.url, service.admin, { language })
    await open(page, `/domains/${name}`)
    await page.getByText(`MailDomain web/${managed_by.name}`).first().waitFor()
    await page.getByText(labels.dns.providedByCluster).waitFor()
    for (const action of [labels.domains.remove, labels.dns.preview])
      expect(await page.getByRole('button', { name: action, exact: true }).count(), action).toBe(0)
    // A domain of the account has both the account and the actions, and no such text.
    await open(page, '/domains/own.managed.example')
    await page.getByRole('button', { name: labels.domains.remove, exact: true }).waitFor()
    expect(await page.getByText(labels.dns.providedByCluster).count()).toBe(0)
    expect(complaints).toEqual([])
    await leave()
  })

  test('users who are no admins see the badge, without a link to the resources', async () => {
    const username = `member-${language.toLowerCase()}`
    const user = await giveUser(service.mongo.db, { username })
    const managed_by = { ...resource('MailDomain', username), uid: newId('u') }
    await giveDomain(service.mongo.db, user._id, `${username}.example`, { managed_by })
    const login = { username, password: PASSWORD }
    const { page, complaints, leave } = await signedIn(browser, service.url, login, { language })
    await open(page, '/domains')
    const badge = page.getByText(`MailDomain web/${username}`)
    await badge.hover()
    await page.getByRole('tooltip').getByText(labels.ui.managedHint).waitFor()
    expect(await page.getByRole('link', { name: `MailDomain web/${username}` }).count()).toBe(0)
    expect(complaints).toEqual([])
    await leave()
  })
})
