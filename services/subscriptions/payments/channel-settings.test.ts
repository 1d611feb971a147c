import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certify, pemOf } from '../../../test/support/subscriptions/certificate-chain.ts'
import { fakeAlipay, fakeWechat } from '../../../test/support/subscriptions/payment-notices.ts'
import { interrupted, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import type { ProblemError } from '../../platform/problems.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { localise } from '../rules/field-errors.ts'
import { type ChannelName, loadChannel, saveChannelSettings, viewChannel } from './channel-settings.ts'
import { findChannel } from './store/channels.ts'

const { settings } = fakeWechat()
const WECHAT = { ...settings, public_key: settings.public_key.trim() }
const { settings: ALIPAY } = fakeAlipay()
const HUAWEI = {
  application_id: 'a',
  issuer_id: 'i',
  key_id: 'k',
  root_certificate: pemOf(certify({ name: 'Root', ca: true })),
  private_key: String(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ),
}
const { api_v3_key: SECRET, ...OPEN } = WECHAT

async function shop(closing?: (close: () => Promise<void>) => void) {
  const { context, giveApp } = await openSubscriptionsModule({}, closing)
  await giveApp('shop')
  const save = (given: Record<string, unknown>, by: Subscriptions = context, channel: ChannelName = 'wechat') =>
    saveChannelSettings(by, systemActor, { appKey: 'shop', channel }, { enabled: '1', ...given })
  const loaded = () => loadChannel(context, 'shop', 'wechat')
  const errors = async (given: Record<string, unknown>, channel: ChannelName = 'wechat') =>
    save(given, context, channel).then(
      () => [],
      (refusal: ProblemError) =>
        refusal.errors.map(error => localise(error, 'en')).map(({ field, rule }) => `${field} ${rule}`),
    )
  return { context, save, loaded, errors }
}

test('what is stored is loaded as it was given, and shown without its secrets', async () => {
  const { context, save, loaded } = await shop()
  const stored = await save(WECHAT)
  expect(await loaded()).toEqual(WECHAT)
  expect(viewChannel(context, stored)).toMatchObject({
    ...{ channel: 'wechat', enabled: '1', settings: OPEN, secrets: { api_v3_key: true } },
    notify_path: '/notify/wechat/shop',
  })
  for (const text of [JSON.stringify(stored), JSON.stringify(await context.collections.audit.find().toArray())])
    expect(text).not.toContain(SECRET)
})

test('what is absent stays as it was, the secret too', async () => {
  const { save, loaded } = await shop()
  await save(WECHAT)
  await save({ mchid: '1901' })
  expect(await loaded()).toEqual({ ...WECHAT, mchid: '1901' })
  const next = randomBytes(16).toString('hex')
  await save({ api_v3_key: next })
  expect(await loaded()).toEqual({ ...WECHAT, mchid: '1901', api_v3_key: next })
})

test('a channel that is off, or of another app, or never set up, is none', async () => {
  const { context, save, loaded } = await shop()
  expect(await loaded()).toBeUndefined()
  await save({ ...WECHAT, enabled: '0' })
  expect(await loaded()).toBeUndefined()
  await save({})
  expect(await loaded()).toEqual(WECHAT)
  expect(await loadChannel(context, 'other', 'wechat')).toBeUndefined()
  expect(await loadChannel(context, 'shop', 'alipay')).toBeUndefined()
})

describe('what cannot work is refused, with its field, and changes nothing', () => {
  let steady: Awaited<ReturnType<typeof shop>>
  let close: () => Promise<void>
  beforeAll(async () => {
    steady = await shop(stop => {
      close = stop
    })
    await steady.save(WECHAT)
  })
  afterAll(() => close())

  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const privatePem = String(other.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  test.each<[string, ChannelName, Record<string, unknown>, string[]]>([
    ['a merchant without a number', 'wechat', { mchid: '' }, ['mchid too_small']],
    ['a number that is no text', 'wechat', { mchid: 1900 }, ['mchid type']],
    ['a key that is none', 'wechat', { public_key: 'secret' }, ['public_key format']],
    ['a secret of 31 bytes', 'wechat', { api_v3_key: 'k'.repeat(31) }, ['api_v3_key format']],
    ['a secret of 33 bytes', 'wechat', { api_v3_key: 'k'.repeat(33) }, ['api_v3_key format']],
    ['a secret of 32 letters and more bytes', 'wechat', { api_v3_key: '密'.repeat(32) }, ['api_v3_key format']],
    ['a secret that is no text', 'wechat', { api_v3_key: null }, ['api_v3_key type']],
    ['several at the same time', 'wechat', { mchid: '', appid: 'x'.repeat(65) }, ['mchid too_small', 'appid too_big']],
    ['a key of Alipay that is none', 'alipay', { ...ALIPAY, alipay_public_key: 'x' }, ['alipay_public_key format']],
    [
      'settings of another channel',
      'alipay',
      WECHAT,
      ['app_id required', 'seller_id required', 'alipay_public_key required'],
    ],
    [
      'Huawei without a root, with an address that is none',
      'huawei',
      { application_id: 'a', issuer_id: 'i', key_id: 'k', root_certificate: privatePem, api_url: 'ftp://x' },
      ['root_certificate format', 'api_url format'],
    ],
    ['Huawei over plain HTTP', 'huawei', { ...HUAWEI, api_url: 'http://hw.example.com' }, ['api_url tls_required']],
    ['Huawei inside', 'huawei', { ...HUAWEI, api_url: 'https://169.254.169.254' }, ['api_url private_address']],
    ['Huawei on this host', 'huawei', { ...HUAWEI, api_url: 'https://localhost' }, ['api_url private_address']],
    ['Huawei with a login', 'huawei', { ...HUAWEI, api_url: 'https://me:pw@hw.example.com' }, ['api_url url_login']],
  ])('%s', async (_, channel, given, expected) => {
    const { context, loaded, errors } = steady
    expect(await errors(given, channel)).toEqual(expected)
    expect(await loaded()).toEqual(WECHAT)
    expect(await context.collections.channels.countDocuments()).toBe(1)
  })

  test('names of the prototype and unknown fields are not stored', async () => {
    const { context, save, loaded } = await shop()
    await save({ ...WECHAT, ...JSON.parse('{"__proto__":{"mchid":"evil"},"constructor":"x","sealed":"x"}') })
    expect(await loaded()).toEqual(WECHAT)
    expect(Object.keys((await findChannel(context.collections, 'shop', 'wechat'))?.settings ?? {})).toEqual(
      Object.keys(OPEN),
    )
  })
})

describe('two administrators in the same moment', () => {
  test('each changes only the given fields', async () => {
    const { context, save, loaded } = await shop()
    await save(WECHAT)
    const other = () => save({ mchid: '1901' })
    await save({ serial: 'S2' }, interrupted(context, 'channels', other))
    expect(await loaded()).toEqual({ ...WECHAT, mchid: '1901', serial: 'S2' })
  })

  test('parallel first writes leave one complete channel', async () => {
    const { context, save, loaded } = await shop()
    await Promise.all([1, 2, 3].map(n => save({ ...WECHAT, mchid: `190${n}` })))
    expect(await context.collections.channels.countDocuments()).toBe(1)
    expect((await loaded())?.mchid).toMatch(/^190[123]$/)
  })
})

test('after SESSION_SECRET was lost the secrets are not set, and are given again', async () => {
  const { context, save, loaded } = await shop()
  await save(WECHAT)
  const rekeyed: Subscriptions = { ...context, secrets: createSecrets('another secret of thirty-two bytes') }
  const stored = await findChannel(context.collections, 'shop', 'wechat')
  if (!stored) throw new Error('the channel is gone')
  expect(viewChannel(rekeyed, stored)).toMatchObject({ settings: OPEN, secrets: {} })
  await expect(save({ mchid: '1901' }, rekeyed)).rejects.toMatchObject({
    ...{ code: 'validation_failed', errors: [{ pointer: '/api_v3_key', reason: { code: 'field.required' } }] },
  })
  expect(await loaded()).toEqual(WECHAT)
  await save({ api_v3_key: SECRET }, rekeyed)
  expect(await loadChannel(rekeyed, 'shop', 'wechat')).toEqual(WECHAT)
})
