/** Which mail the inbound service refuses: everything that is no report to an address that we made. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../../services/platform/durations.ts'
import { newId } from '../../../services/platform/ids.ts'
import {
  BOUNCES,
  type InboundEnvironment,
  OWN,
  startInboundEnvironment,
  statusReport,
} from '../../support/mail/inbound-environment.ts'

const UNKNOWN = /^550 5\.1\.1 There is no such address here/
const stored = ({ mongo }: InboundEnvironment) => mongo.db.collection('inbound_messages').countDocuments()

describe('an address is refused', () => {
  test.each<[string, (environment: InboundEnvironment, id: string) => string, RegExp]>([
    ['that is of another server', () => 'ann@example.org', UNKNOWN],
    ['that is a user here', () => 'a@example.com', UNKNOWN],
    ['of BOUNCE_DOMAIN without a token', () => `ann@${BOUNCES}`, UNKNOWN],
    ['of a role at a domain of a user', () => `abuse@${OWN}`, UNKNOWN],
    ['with random characters for a token', () => `b${'0'.repeat(48)}@${OWN}`, UNKNOWN],
    ['whose token is of another host', (environment, id) => `${environment.token(id)}@${BOUNCES}`, UNKNOWN],
    ['whose token was made for another domain', (e, id) => `${e.token(id)}@bounce.example.org`, UNKNOWN],
    ['whose token names another message', (e, id) => `${withMessage(e.token(id), newId('em'))}@${OWN}`, UNKNOWN],
    ['whose token names another recipient', (e, id) => `${withRecipient(e.token(id))}@${OWN}`, UNKNOWN],
    ['whose token is cut', (environment, id) => `${environment.token(id).slice(0, -1)}@${OWN}`, UNKNOWN],
    [
      'whose token has expired',
      (environment, id) => `${environment.token(id, { expiresAt: new Date(Date.now() - 32 * DAY_MS) })}@${OWN}`,
      /^550 5\.1\.1 This return path has expired/,
    ],
    ['for complaints with the token of another host', (e, id) => `feedback+${e.token(id)}@${BOUNCES}`, UNKNOWN],
    ['with a route to another server', () => `ann%example.org@${BOUNCES}`, UNKNOWN],
  ])('%s', async (_, address, reply) => {
    const environment = await startInboundEnvironment()
    const id = await environment.submit()
    expect(await environment.bring(address(environment, id), statusReport())).toMatch(reply)
    expect(await stored(environment)).toBe(0)
    expect((await environment.message(id)).rcpts[0]?.status).toBe('queued')
  })
})

const withMessage = (token: string, id: string) => `b${id.slice(3)}${token.slice(27)}`
const withRecipient = (token: string) => `${token.slice(0, 29)}${token[29] === '1' ? '2' : '1'}${token.slice(30)}`

describe('a client', () => {
  test('cannot log in, nor send without recipients', async () => {
    const environment = await startInboundEnvironment()
    const conversation = await environment.open()
    const hello = await conversation.command('EHLO mx.example.net')
    expect(hello.lines.join('\n')).not.toMatch(/AUTH/)
    expect(hello.lines.join('\n')).toMatch(/SIZE 10485760/)
    expect((await conversation.command('AUTH PLAIN AGEAYg==')).code).toBeGreaterThanOrEqual(500)
    await conversation.command('MAIL FROM:<>')
    expect((await conversation.command('DATA')).code).toBeGreaterThanOrEqual(500)
  })

  test('that tries many addresses is sent away', async () => {
    const environment = await startInboundEnvironment({ limits: { refusals: 3 } })
    const conversation = await environment.open()
    await conversation.command('MAIL FROM:<>')
    for (let n = 0; n < 3; n++) expect((await conversation.command(`RCPT TO:<u${n}@${BOUNCES}>`)).code).toBe(550)
    expect((await conversation.reply()).code).toBe(421)
    await conversation.closed
  })

  test('has a limited number of messages and of connections', async () => {
    const environment = await startInboundEnvironment({ limits: { messages: 1, clientsPerAddress: 2 } })
    const id = await environment.submit()
    const conversation = await environment.open('127.0.0.9')
    expect((await conversation.submit('', [`${environment.token(id)}@${OWN}`], statusReport())).code).toBe(250)
    expect((await conversation.reply()).code).toBe(421)
    const others = [await environment.open(), await environment.open()]
    expect(others).toHaveLength(2)
    await expect(environment.open()).rejects.toThrow()
    expect((await (await environment.open('127.0.0.8')).command('NOOP')).code).toBe(250)
  })
})

describe('a message is refused', () => {
  test.each([
    ['that says it is of 50 MB', `SIZE=${50 * 1024 * 1024}`, /^552 5\.3\.4/],
    ['that says it fits', 'SIZE=1000', /^250/],
  ])('%s', async (_, parameter, reply) => {
    const environment = await startInboundEnvironment()
    const conversation = await environment.open()
    expect((await conversation.command(`MAIL FROM:<> ${parameter}`)).text).toMatch(reply)
  })

  test('that is larger than it may be; the next one is taken', async () => {
    const environment = await startInboundEnvironment({ limits: { messageBytes: 1024 * 1024 } })
    const to = `${environment.token(await environment.submit())}@${OWN}`
    const large = `${statusReport()}\r\n${'x'.repeat(76)}\r\n`.repeat(1).concat(`${'y'.repeat(998)}\r\n`.repeat(1_100))
    const conversation = await environment.open()
    expect((await conversation.submit('', [to], large)).text).toMatch(/^552 5\.3\.4/)
    expect(await stored(environment)).toBe(0)
    expect((await conversation.submit('', [to], statusReport())).text).toMatch(/^250/)
  })

  test('that goes in circles', async () => {
    const environment = await startInboundEnvironment()
    const to = `${environment.token(await environment.submit())}@${OWN}`
    const hops = 'Received: from a by b; Mon, 23 Nov 2026 12:00:00 +0000\r\n'
    expect(await environment.bring(to, hops.repeat(51) + statusReport())).toMatch(/^554 5\.4\.6/)
    expect(await environment.bring(to, hops.repeat(50) + statusReport())).toMatch(/^250/)
  })

  test('when too many have come for the recipient', async () => {
    const environment = await startInboundEnvironment()
    const [id, other] = [await environment.submit(), await environment.submit()]
    const to = `${environment.token(id)}@${OWN}`
    for (let n = 0; n < 20; n++) expect(await environment.bring(to, 'Subject: hello\r\n\r\nHi')).toMatch(/^250/)
    expect(await environment.bring(to, statusReport())).toMatch(/^550 5\.7\.1 Too many/)
    expect(await environment.bring(`${environment.token(other)}@${OWN}`, statusReport())).toMatch(/^250/)
  })
})

test('of a large message only the beginning is kept, and the report is read', async () => {
  const environment = await startInboundEnvironment()
  const to = `${environment.token(await environment.submit())}@${OWN}`
  const tail = randomBytes(3 * 1024 * 1024)
    .toString('base64')
    .replaceAll(/.{76}/g, '$&\r\n')
  expect(await environment.bring(to, `${statusReport()}\r\n${tail}`)).toMatch(/^250/)
  const [doc] = await environment.mongo.db.collection('inbound_messages').find().toArray()
  expect(doc?.size).toBeGreaterThan(4 * 1024 * 1024)
  expect(doc?.z.length()).toBeLessThan(2 * 1024 * 1024)
})
