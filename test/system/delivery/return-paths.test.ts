/** Envelope senders of deliveries with BOUNCE_DOMAIN: which address a receiver is given, in one transaction for each recipient. */
import { describe, expect, test } from 'vitest'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { readReturnPathToken } from '../../../services/mail/message/return-path.ts'
import { at, type DeliveryEnvironment, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

const BOUNCES = 'bounces.mail.test'

async function start({ domain = {}, env = {} }: { domain?: Partial<DomainDoc>; env?: Record<string, string> } = {}) {
  const environment = await startDeliveryEnvironment({ env: { BOUNCE_DOMAIN: BOUNCES, ...env } })
  await updateDomain(environment.mongo.db, environment.domain._id, domain)
  return environment
}

/** A domain after a check of its return path. */
const checked = (status: 'verified' | 'failed' | 'temporary_failure', observed = [BOUNCES]): Partial<DomainDoc> => ({
  check: {
    at: new Date(),
    ...{ attempts: 1, failures: 0, errors: [] },
    records: [{ row: 'return_path', status, observed, errors: [], warnings: [], instructions: [] }],
  },
})
/** A domain after a check that saw a whole return path as MX and SPF, which led to `host`. */
const checkedMx = (host: string | undefined, status: 'verified' | 'failed' = 'verified'): Partial<DomainDoc> => ({
  check: {
    at: new Date(),
    ...{ attempts: 1, failures: 0, errors: [] },
    ...(host === undefined ? {} : { return_path: host }),
    records: [
      record('return_path_mx', 'verified', ['10 mx1.mail.test']),
      record('return_path_spf', status, ['v=spf1 include:bounces.mail.test ~all']),
    ],
  },
})
const record = (row: string, status: 'verified' | 'failed', observed: string[]) => ({
  ...{ row, status, observed },
  ...{ errors: [], warnings: [], instructions: [] },
})
const settings = (return_path: 'own' | 'shared' | 'off'): Partial<DomainDoc> => ({
  dns: { manage: false, return_path },
})

/** The envelope senders that the receiver saw, by recipient. */
async function sendersOf(environment: DeliveryEnvironment, id: string, recipients: number) {
  await until(async () => (await environment.message(id)).left === 0)
  expect(environment.receiver.received.flatMap(({ rcpts }) => rcpts)).toHaveLength(recipients)
  return environment.receiver.received.map(({ from }) => from)
}

/** What a token at this host names. */
function readToken({ secrets, clock }: DeliveryEnvironment, from: string, host: string) {
  expect(from).toMatch(new RegExp(`^[a-z0-9]{49}@${host.replaceAll('.', '\\.')}$`))
  return readReturnPathToken(from.slice(0, from.indexOf('@')), host, clock.now(), [
    text => secrets.mac('return-path', text),
  ])
}

describe('the envelope sender of a delivery', () => {
  test.each<[string, Partial<DomainDoc>, string]>([
    ['names the domain once its record is verified', checked('verified'), 'bounce.example.com'],
    ['names the domain once its MX and SPF records are verified', checkedMx(BOUNCES), 'bounce.example.com'],
    ['is at the shared domain where that was chosen', settings('shared'), BOUNCES],
  ])('%s', async (_, domain, host) => {
    const environment = await start({ domain })
    await environment.work()
    const id = await environment.submit()
    const [from = ''] = await sendersOf(environment, id, 1)
    expect(readToken(environment, from, host)).toEqual({ kind: 'valid', messageId: id, recipient: 0 })
    expect((await environment.message(id)).mail_from).toBe('a@example.com')
    expect(environment.receiver.protocolErrors).toEqual([])
  })

  test.each<[string, Partial<DomainDoc>, Record<string, string>]>([
    ['before the first check', {}, {}],
    ['while the record is missing', checked('failed', []), {}],
    ['while DNS does not answer', checked('temporary_failure', []), {}],
    ['while the record leads to a former host', checked('verified', ['old.mail.test']), {}],
    ['while one of two records is missing', checkedMx(undefined, 'failed'), {}],
    ['while the MX record leads to a former host', checkedMx('old.mail.test'), {}],
    ['where it was switched off', { ...checked('verified'), ...settings('off') }, {}],
    ['without BOUNCE_DOMAIN', checked('verified'), { BOUNCE_DOMAIN: '' }],
  ])('is the submitted one %s', async (_, domain, env) => {
    const environment = await start({ domain, env })
    await environment.work()
    expect(await sendersOf(environment, await environment.submit(), 1)).toEqual(['a@example.com'])
  })

  test('that is empty stays empty', async () => {
    const environment = await start({ domain: checked('verified') })
    await environment.work()
    expect(await sendersOf(environment, await environment.submit({ mail_from: '' }), 1)).toEqual([''])
  })

  test('of mail of the system itself is the submitted one', async () => {
    const environment = await start({ domain: checked('verified') })
    await environment.work()
    const id = await environment.submit({ domain_id: '', via: { channel: 'system' } })
    expect(await sendersOf(environment, id, 1)).toEqual(['a@example.com'])
  })

  test('needs no other name when BOUNCE_DOMAIN is that of the domain', async () => {
    const environment = await start({ env: { BOUNCE_DOMAIN: 'bounce.example.com' } })
    await environment.work()
    const id = await environment.submit()
    const [from = ''] = await sendersOf(environment, id, 1)
    expect(readToken(environment, from, 'bounce.example.com')).toMatchObject({ messageId: id })
  })

  test('names each recipient, over few connections', async () => {
    const environment = await start({ domain: checked('verified') })
    await environment.work()
    const to = Array.from({ length: 40 }, (_, n) => at(`r${n}`))
    const id = await environment.submit({ to })
    await sendersOf(environment, id, 40)
    const named = environment.receiver.received.map(({ from, rcpts }) => {
      const token = readToken(environment, from, 'bounce.example.com')
      return [token?.kind === 'valid' && token.messageId === id && to[token.recipient], rcpts[0]?.email]
    })
    expect(named).toHaveLength(40)
    for (const [fromToken, recipient] of named) expect(fromToken).toBe(recipient)
    expect(Math.max(...environment.receiver.received.map(({ connection }) => connection))).toBeLessThan(30)
  })

  test('is the same in each attempt of a delivery', async () => {
    const environment = await start({ domain: checked('verified') })
    await environment.work()
    const id = await environment.submit({ to: [at('rcpt-451-4.7.1')] })
    await until(async () => (await environment.events(id)).length === 1)
    environment.clock.advance(30 * 60_000)
    await until(async () => (await environment.events(id)).length === 2)
    const senders = (await environment.events(id)).map(
      ({ conversation }) => /MAIL FROM:<([^>]+)>/.exec(conversation ?? '')?.[1],
    )
    expect(new Set(senders).size).toBe(1)
    expect(senders[0]).toMatch(/@bounce\.example\.com$/)
  })
})
