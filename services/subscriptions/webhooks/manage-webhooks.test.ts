import { describe, expect, test } from 'vitest'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { listWebhooks } from '../../platform/webhooks/event-queue.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { createWebhook, deleteWebhook, updateWebhook, type WebhookSpec } from './manage-webhooks.ts'
import { webhookStore } from './store/webhooks.ts'

const SPEC: WebhookSpec = { url: 'https://example.com/hook', events: ['user.created'], enabled: true }

async function hooked() {
  const { s, giveApp, clock } = await openSubscriptionsModule()
  await giveApp('shop')
  const { webhook } = await createWebhook(s, systemActor, 'shop', SPEC)
  clock.advance(1_000)
  const at = { appKey: 'shop', id: webhook._id }
  const change = (given: Partial<WebhookSpec>, by = s) => updateWebhook(by, systemActor, at, given)
  const remove = (by = s) => deleteWebhook(by, systemActor, at)
  const log = async () => (await s.c.audit.find({ 'target.kind': 'webhook' }).sort({ _id: 1 }).toArray()).map(deedOf)
  return { s, webhook, at, change, remove, log, clock }
}

const deedOf = ({ action, changes }: { action: string; changes: object }) =>
  `${action} ${Object.keys(changes).toSorted()}`

/** The same half, in which something happens right after the first look at a webhook. */
function interrupted(s: Subscriptions, between: () => Promise<unknown>): Subscriptions {
  const read = s.c.webhooks.findOne.bind(s.c.webhooks)
  let happened = false
  const findOne = (async (...given: Parameters<typeof read>) => {
    const seen = await read(...given)
    if (!happened) {
      happened = true
      await between()
    }
    return seen
  }) as typeof read
  const webhooks = new Proxy(s.c.webhooks, {
    get: (of, name) => (name === 'findOne' ? findOne : Reflect.get(of, name).bind(of)),
  })
  return { ...s, c: { ...s.c, webhooks } }
}

describe('two changes in the same moment', () => {
  test.each<[string, Partial<WebhookSpec>, Partial<WebhookSpec>]>([
    ['the address and the switch', { url: 'https://example.com/new' }, { enabled: false }],
    ['the events and the address', { events: [] }, { url: 'https://example.com/new' }],
    ['everything and one field', { ...SPEC, events: ['user.deleted'] }, { enabled: false }],
  ])('of %s: the later one changes its own fields only', async (_, late, early) => {
    const { s, webhook, change } = await hooked()
    const after = await change(
      late,
      interrupted(s, () => change(early)),
    )
    const [stored] = await listWebhooks(webhookStore(s.c), 'shop')
    expect(stored).toEqual({ ...webhook, ...early, ...late, updated_at: s.clock.now() })
    expect(after).toEqual(stored)
  })

  test('both stand in the log, each with what it changed', async () => {
    const { s, change, log } = await hooked()
    await change(
      { events: [] },
      interrupted(s, () => change({ enabled: false })),
    )
    expect(await log()).toEqual([
      'webhook.create enabled,events,url',
      'webhook.update events',
      'webhook.update enabled',
    ])
  })

  test('of three who do not wait for each other none is lost', async () => {
    const { s, change } = await hooked()
    await Promise.all([change({ url: 'https://example.com/3' }), change({ events: [] }), change({ enabled: false })])
    expect(await listWebhooks(webhookStore(s.c), 'shop')).toMatchObject([
      { url: 'https://example.com/3', events: [], enabled: false },
    ])
  })
})

describe('a webhook that is removed', () => {
  test('while it is changed stays removed', async () => {
    const { s, change, remove, log } = await hooked()
    const late = change({ enabled: false }, interrupted(s, remove))
    expect(await codeOf(late)).toBe('record_not_found')
    expect(await listWebhooks(webhookStore(s.c), 'shop')).toEqual([])
    expect(await log()).toEqual(['webhook.create enabled,events,url', 'webhook.delete enabled,events,url'])
  })

  test('by two in the same moment is removed once', async () => {
    const { s, remove, log } = await hooked()
    const outcomes = await Promise.all([codeOf(remove()), codeOf(remove(interrupted(s, remove)))])
    expect(outcomes.toSorted()).toContain('record_not_found')
    expect((await log()).filter(deed => deed.startsWith('webhook.delete'))).toHaveLength(1)
  })

  test('or belongs to another app, or never was, is not found', async () => {
    const { s, at, giveOther } = await withOther()
    for (const target of [
      { ...at, appKey: 'other' },
      { ...at, id: 'wh_nothing' },
      { ...at, id: giveOther },
      { ...at, id: '__proto__' },
    ]) {
      expect(await codeOf(updateWebhook(s, systemActor, target, { enabled: false }))).toBe('record_not_found')
      expect(await codeOf(deleteWebhook(s, systemActor, target))).toBe('record_not_found')
    }
    expect((await s.c.webhooks.find().toArray()).every(({ enabled }) => enabled)).toBe(true)
  })

  async function withOther() {
    const { s, at } = await hooked()
    const giveOther = (await createWebhook(s, systemActor, 'other', SPEC)).webhook._id
    return { s, at, giveOther }
  }
})

test('a change shows at once to what is published in this process', async () => {
  const { s, change } = await hooked()
  const remembered = () => s.memory.webhooks.get('shop', () => listWebhooks(webhookStore(s.c), 'shop'))
  expect(await remembered()).toMatchObject([{ enabled: true }])
  await change({ enabled: false })
  expect(await remembered()).toMatchObject([{ enabled: false }])
})

test('the log holds no secret, sealed or not', async () => {
  const { s, webhook, change, remove } = await hooked()
  await change({ enabled: false })
  await remove()
  const text = JSON.stringify(await s.c.audit.find().toArray())
  expect(text).not.toContain(webhook.sealed)
  expect(text).not.toContain('whsec_')
})
