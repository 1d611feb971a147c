import { describe, expect, test } from 'vitest'
import {
  codeOf,
  interrupted,
  openSubscriptionsModule,
} from '../../../test/support/subscriptions/subscriptions-module.ts'
import { listWebhooks } from '../../platform/webhooks/event-queue.ts'
import { systemActor } from '../context.ts'
import { webhookStore } from '../events/store/webhooks.ts'
import { createWebhook, deleteWebhook, updateWebhook, type WebhookSpec } from './manage-webhooks.ts'

const SPEC: WebhookSpec = { url: 'https://example.com/hook', events: ['user.created'], enabled: true }

async function hooked() {
  const { context, giveApp, clock } = await openSubscriptionsModule()
  await giveApp('shop')
  const { webhook } = await createWebhook(context, systemActor, 'shop', SPEC)
  clock.advance(1_000)
  const at = { appKey: 'shop', id: webhook._id }
  const change = (given: Partial<WebhookSpec>, by = context) => updateWebhook(by, systemActor, at, given)
  const remove = (by = context) => deleteWebhook(by, systemActor, at)
  const log = async () =>
    (await context.collections.audit.find({ 'target.kind': 'webhook' }).sort({ _id: 1 }).toArray()).map(eventOf)
  return { context, webhook, at, change, remove, log, clock }
}

const eventOf = ({ action, changes }: { action: string; changes: object }) =>
  `${action} ${Object.keys(changes).toSorted()}`

describe('two changes in the same moment', () => {
  test.each<[string, Partial<WebhookSpec>, Partial<WebhookSpec>]>([
    ['the address and the switch', { url: 'https://example.com/new' }, { enabled: false }],
    ['the events and the address', { events: [] }, { url: 'https://example.com/new' }],
    ['everything and one field', { ...SPEC, events: ['user.deleted'] }, { enabled: false }],
  ])('of %s: the later one changes its own fields only', async (_, late, early) => {
    const { context, webhook, change } = await hooked()
    const after = await change(
      late,
      interrupted(context, 'webhooks', () => change(early)),
    )
    const [stored] = await listWebhooks(webhookStore(context.collections), 'shop')
    expect(stored).toEqual({ ...webhook, ...early, ...late, updated_at: context.clock.now() })
    expect(after).toEqual(stored)
  })

  test('both are in the audit log, each with its changes', async () => {
    const { context, change, log } = await hooked()
    await change(
      { events: [] },
      interrupted(context, 'webhooks', () => change({ enabled: false })),
    )
    expect(await log()).toEqual([
      'webhook.create enabled,events,url',
      'webhook.update events',
      'webhook.update enabled',
    ])
  })

  test('of three who do not wait for each other none is lost', async () => {
    const { context, change } = await hooked()
    await Promise.all([change({ url: 'https://example.com/3' }), change({ events: [] }), change({ enabled: false })])
    expect(await listWebhooks(webhookStore(context.collections), 'shop')).toMatchObject([
      { url: 'https://example.com/3', events: [], enabled: false },
    ])
  })
})

describe('a webhook that is removed', () => {
  test('while it is changed stays removed', async () => {
    const { context, change, remove, log } = await hooked()
    const late = change({ enabled: false }, interrupted(context, 'webhooks', remove))
    expect(await codeOf(late)).toBe('record_not_found')
    expect(await listWebhooks(webhookStore(context.collections), 'shop')).toEqual([])
    expect(await log()).toEqual(['webhook.create enabled,events,url', 'webhook.delete enabled,events,url'])
  })

  test('by two in the same moment is removed once', async () => {
    const { context, remove, log } = await hooked()
    const outcomes = await Promise.all([codeOf(remove()), codeOf(remove(interrupted(context, 'webhooks', remove)))])
    expect(outcomes.toSorted()).toContain('record_not_found')
    expect((await log()).filter(event => event.startsWith('webhook.delete'))).toHaveLength(1)
  })

  test('or belongs to another app, or never was, is not found', async () => {
    const { context, at, giveOther } = await withOther()
    for (const target of [
      { ...at, appKey: 'other' },
      { ...at, id: 'wh_nothing' },
      { ...at, id: giveOther },
      { ...at, id: '__proto__' },
    ]) {
      expect(await codeOf(updateWebhook(context, systemActor, target, { enabled: false }))).toBe('record_not_found')
      expect(await codeOf(deleteWebhook(context, systemActor, target))).toBe('record_not_found')
    }
    expect((await context.collections.webhooks.find().lean()).every(({ enabled }) => enabled)).toBe(true)
  })

  async function withOther() {
    const { context, at } = await hooked()
    const giveOther = (await createWebhook(context, systemActor, 'other', SPEC)).webhook._id
    return { context, at, giveOther }
  }
})

test('a change applies immediately to events published in this process', async () => {
  const { context, change } = await hooked()
  const remembered = () =>
    context.memory.webhooks.get('shop', () => listWebhooks(webhookStore(context.collections), 'shop'))
  expect(await remembered()).toMatchObject([{ enabled: true }])
  await change({ enabled: false })
  expect(await remembered()).toMatchObject([{ enabled: false }])
})

test('the log holds no secret, sealed or not', async () => {
  const { context, webhook, change, remove } = await hooked()
  await change({ enabled: false })
  await remove()
  const text = JSON.stringify(await context.collections.audit.find().toArray())
  expect(text).not.toContain(webhook.sealed)
  expect(text).not.toContain('whsec_')
})
