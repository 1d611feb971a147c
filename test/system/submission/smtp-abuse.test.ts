import { connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readMessage } from '../../../services/mail/submission/rules/validate-message.ts'
import { refuse } from '../../../services/mail/submission/validate-sender.ts'
import { type Conversation, type ConverseOptions, converse } from '../../support/mail/smtp-conversation.ts'
import { acceptedAnswer, LOGIN, startListener, type TestListener } from '../../support/mail/submission-listener.ts'
import { until } from '../../support/time/until.ts'

const MAIL = 'From: a@example.org\r\n\r\nhi\r\n'
const STOLEN =
  'MAIL FROM:<stolen@example.org>\r\nRCPT TO:<victim@example.net>\r\nDATA\r\nFrom: stolen@example.org\r\n\r\nx\r\n.\r\n'

async function loggedIn(listener: TestListener, options: ConverseOptions = {}) {
  const client = await converse(listener.tls, { tls: true, ...options })
  await client.reply()
  const reply = await client.logIn(LOGIN.username, LOGIN.password)
  if (reply.code !== 235) throw new Error(reply.text)
  return client
}

/** A listener that validates messages as the submission service does. */
const startValidatingListener = (over: Parameters<typeof startListener>[0] = {}) =>
  startListener({
    accept: async ({ raw }) => {
      const read = readMessage(raw, 26_214_400)
      return 'code' in read ? refuse(read.code, read.detail) : acceptedAnswer()
    },
    ...over,
  })

async function openData(listener: TestListener) {
  const client = await loggedIn(listener)
  for (const line of ['MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.net>', 'DATA']) await client.command(line)
  return client
}

/** Checks that another client is served normally. */
async function expectServed(listener: TestListener) {
  const before = listener.received.length
  const client = await loggedIn(listener)
  expect((await client.submit('a@example.org', ['b@example.net'], MAIL)).code).toBe(250)
  expect(listener.received).toHaveLength(before + 1)
}

describe('a smuggled message', () => {
  const ENDINGS = {
    'LF.LF': '\n.\n',
    'LF.CRLF': '\n.\r\n',
    'CRLF.LF': '\r\n.\n',
    'CR.CR': '\r.\r',
    'CR.CRLF': '\r.\r\n',
    'CRLF.CR': '\r\n.\r',
    'CR.LF': '\r.\n',
    'LF.CR': '\n.\r',
    'CRLF.CRCRLF': '\r\n.\r\r\n',
    'CRLF.NUL.CRLF': '\r\n.\0\r\n',
    'NUL in the dot line': '\r\n\0.\r\n',
  }

  test.each(Object.entries(ENDINGS))(
    '%s ends no message; the message is rejected completely and nothing is accepted',
    async (_, ending) => {
      const listener = await startValidatingListener()
      const client = await openData(listener)
      const attack = `From: a@example.org\r\n\r\nhi${ending}${STOLEN}`
      await client.writeInPieces(attack, [])
      // Where the ending is no end, the dot after the stolen message ends the first one.
      const reply = await client.reply()
      expect(reply.text).toMatch(/^550 5\.6\.0 /)
      expect(listener.received.map(({ mailFrom }) => mailFrom)).toEqual(['a@example.org'])
      expect((await client.command('NOOP')).code).toBe(250)
      await expectServed(listener)
    },
  )

  test('in any segmentation is never accepted as a message of its own', async () => {
    const listener = await startValidatingListener()
    const endings = fc.constantFrom(...Object.values(ENDINGS), '\r\n..\r\n', '\r\n..\n', '\n..\r\n')
    await fc.assert(
      fc.asyncProperty(endings, fc.array(fc.nat(200), { maxLength: 12 }), async (ending, cuts) => {
        const before = listener.received.length
        const client = await openData(listener)
        await client.writeInPieces(`From: a@example.org\r\n\r\nhi${ending}${STOLEN}`, cuts)
        await client.reply()
        await client.command('NOOP')
        client.destroy()
        const seen = listener.received.slice(before)
        expect(seen.map(({ mailFrom }) => mailFrom)).toEqual(['a@example.org'])
        expect(seen[0]?.raw.includes('MAIL FROM:<stolen@example.org>')).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    ['as one segment', []],
    ['with the two dots in a segment of their own', [2]],
    ['octet by octet', [1, 2, 3, 4, 5, 6, 7, 8]],
  ])('a dot-stuffed first line is content: %s', async (_, cuts) => {
    const listener = await startListener()
    const client = await openData(listener)
    await client.writeInPieces(`..\r\n${STOLEN}`, cuts)
    expect((await client.reply()).code).toBe(250)
    expect(listener.received).toHaveLength(1)
    expect(listener.received[0]?.raw.toString()).toMatch(/^\.\r\nMAIL FROM:<stolen/)
  })

  test('any message is received as it was sent, with any dots and segments', async () => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    const line = fc.oneof(fc.constantFrom('.', '..', '. ', '', '.x'), fc.stringMatching(/^[ -~]{0,30}$/))
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.array(fc.nat(300), { maxLength: 10 }),
        async (lines, cuts) => {
          const body = lines.map(text => `${text}\r\n`).join('')
          for (const command of ['MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.net>', 'DATA'])
            await client.command(command)
          await client.writeInPieces(`${body.replace(/^\./gm, '..')}.\r\n`, cuts)
          expect((await client.reply()).code).toBe(250)
          expect(listener.received.at(-1)?.raw.toString()).toBe(body)
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('plaintext after STARTTLS', () => {
  test.each([
    [
      'a complete session',
      `EHLO evil.example\r\nMAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n${MAIL}.\r\n`,
    ],
    ['a part of a line', 'EHLO ev'],
    ['hundreds of lines', 'NOOP\r\n'.repeat(500)],
  ])('is discarded: %s', async (_, smuggled) => {
    const listener = await startListener()
    const client = await converse(listener.starttls)
    await client.reply()
    await client.command('EHLO client.example')
    client.write(`STARTTLS\r\n${smuggled}`)
    expect((await client.reply()).code).toBe(220)
    await client.startTls()
    expect((await client.command('MAIL FROM:<a@example.org>')).text).toMatch(/^503 /) // not even its EHLO counted
    const { lines } = await client.command('EHLO client.example')
    expect(lines[0]).toMatch(/^250-mail\.example\.com/)
    expect((await client.logIn(LOGIN.username, LOGIN.password)).code).toBe(235)
    expect(listener.received).toEqual([])
  })
})

describe('invalid commands', () => {
  test.each([
    ['a line that never ends', 'A'.repeat(20_000)],
    ['a line that is too long', `NOOP ${'A'.repeat(20_000)}\r\n`],
  ])('%s closes the connection with 421', async (_, octets) => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    client.write(octets)
    expect((await client.reply()).code).toBe(421)
    await client.closed
    await expectServed(listener)
  })

  test.each([
    ['a NUL in an address', 'MAIL FROM:<a\0@example.org>', 501],
    ['a bare CR in an address', 'MAIL FROM:<a\r@example.org>', 501],
    ['a NUL in a command', 'NO\0OP', 500],
    ['an unknown command', 'WIZ', 500],
    ['a proxy command', 'XCLIENT ADDR=192.0.2.1', 500],
    ['a parameter with a line break', 'MAIL FROM:<a@example.org> ENVID=a+0D+0ARCPT', 501],
  ])('%s gets an error, and the session continues', async (_, line, code) => {
    const client = await loggedIn(await startListener())
    expect((await client.command(line)).code).toBe(code)
    expect((await client.command('NOOP')).code).toBe(250)
  })

  test('a client that sends no useful command before its login gets 421', async () => {
    const listener = await startListener()
    const client = await converse(listener.starttls)
    await client.reply()
    client.write('EHLO x\r\n'.repeat(40))
    const codes: number[] = []
    for (let code = 0; code !== 421; codes.push(code)) code = (await client.reply()).code
    expect(codes.length).toBeLessThan(20)
    await client.closed
  })

  test('random octets never crash the server', async () => {
    const listener = await startListener()
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.nat(300), { maxLength: 5 }),
        async (octets, cuts) => {
          const client = await converse(listener.starttls)
          await client.reply()
          await client.writeInPieces(Buffer.from(octets), cuts)
          client.destroy()
        },
      ),
      { numRuns: 100 },
    )
    await expectServed(listener)
  })
})

describe('limits', () => {
  const small = { MAX_MESSAGE_BYTES: '2000' }

  test('rejects a message above the limit with 552 at its end and discards its octets', async () => {
    const listener = await startListener({ env: small })
    const client = await openData(listener)
    client.write(`${MAIL}${'x'.repeat(70)}\r\n`.repeat(30))
    client.write('.\r\n')
    expect((await client.reply()).text).toMatch(/^552 5\.3\.4 /)
    expect((await client.command('NOOP')).code).toBe(250)
    expect(listener.received).toEqual([])
  })

  test('closes the connection of a message that exceeds twice the limit', async () => {
    const listener = await startListener({ env: small })
    const client = await openData(listener)
    client.write(`${'x'.repeat(70)}\r\n`.repeat(100))
    expect((await client.reply()).text).toMatch(/^552 5\.3\.4 /)
    await client.closed
    expect(listener.received).toEqual([])
  })

  test('rejects messages temporarily while the memory for incoming mail is exhausted', async () => {
    const listener = await startListener({ limits: { receivingBytes: 32_000 } })
    const first = await openData(listener)
    const second = await openData(listener)
    first.write(`${'x'.repeat(70)}\r\n`.repeat(50))
    await until(async () => {
      second.write(`${MAIL}${'x'.repeat(70)}\r\n`.repeat(10))
      second.write('.\r\n')
      const { code } = await second.reply()
      for (const line of ['MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.net>', 'DATA']) await second.command(line)
      return code === 451
    })
    first.write('.\r\n')
    expect((await first.reply()).code).toBe(250)
    second.write(`${MAIL}.\r\n`)
    expect((await second.reply()).code).toBe(250)
  })

  test('stalled senders of one account leave capacity for others and time out', async () => {
    const listener = await startListener({
      limits: { receivingBytes: 200_000, dataWindowMs: 3_000, bytesPerSecond: 1_000 },
      checkLogin: async userId => ({
        userId,
        via: { channel: 'smtp', id: userId },
        allowedSenders: [],
        messagesPerHour: 0,
      }),
    })
    const openAs = async (user: string) => {
      const client = await converse(listener.tls, { tls: true })
      await client.reply()
      await client.logIn(user, 'right')
      for (const line of ['MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.net>', 'DATA']) await client.command(line)
      return client
    }
    const stalled = await Promise.all(Array.from({ length: 20 }, () => openAs('usr_greedy')))
    for (const client of stalled) client.write(`${'x'.repeat(70)}\r\n`.repeat(200)) // enough for 14 s on average
    const answers = stalled.map(client => client.reply())
    const again = async () => {
      const client = await openAs('usr_greedy')
      client.write(`${MAIL}.\r\n`)
      return (await client.reply()).code
    }
    await until(async () => (await again()) === 451)
    const other = await openAs('usr_other')
    const lines = `${'x'.repeat(70)}\r\n`.repeat(150)
    other.write(`${MAIL}${lines}.\r\n`)
    expect((await other.reply()).code).toBe(250)
    for (const answer of answers) expect((await answer).text).toMatch(/^421 4\.4\.2 /)
    expect(await again()).toBe(250)
  })

  test('limit the clients of one address, and of all together', async () => {
    const listener = await startListener({
      env: { SUBMISSION_MAX_CLIENTS: '3', SUBMISSION_MAX_CLIENTS_PER_ADDRESS: '2' },
    })
    const open = async (from: string) => {
      const client = await converse(listener.starttls, { from })
      return { client, text: (await client.reply()).text }
    }
    const first = await open('127.0.0.2')
    expect((await open('127.0.0.2')).text).toMatch(/^220 /)
    expect((await open('127.0.0.2')).text).toMatch(/^421 4\.7\.0 /)
    expect((await open('127.0.0.3')).text).toMatch(/^220 /)
    expect((await open('127.0.0.4')).text).toMatch(/^421 4\.7\.0 /)
    first.client.destroy()
    await until(async () => (await open('127.0.0.4')).text.startsWith('220'))
  })
})

describe('timeouts', () => {
  test('end a session without login', async () => {
    const listener = await startListener({ limits: { loginMs: 100 } })
    const client = await converse(listener.starttls)
    await client.reply()
    expect((await client.reply()).text).toMatch(/^421 4\.4\.2 /)
    await client.closed
  })

  test('close a connection without TLS handshake', async () => {
    const listener = await startListener({ limits: { handshakeMs: 2_000 } }) // long enough for a handshake of the other client
    const socket = connect(listener.tls, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    await new Promise(resolve => socket.once('close', resolve).on('error', () => undefined))
    await expectServed(listener)
  })

  test('end an idle session', async () => {
    const listener = await startListener({ limits: { idleMs: 2_000 } }) // long enough for each step of the login
    const client = await loggedIn(listener)
    expect((await client.reply()).code).toBe(421)
    await client.closed
  })

  test('end a session that lasts too long in spite of its commands', async () => {
    const listener = await startListener({ limits: { sessionMs: 200 } })
    const client = await loggedIn(listener)
    let text = ''
    const deadline = performance.now() + 10_000
    while (!text.startsWith('421') && performance.now() < deadline) text = (await client.command('NOOP')).text
    expect(text).toMatch(/^421 4\.4\.2 /)
    await client.closed
  })

  test('end a session whose message arrives too slowly', async () => {
    const listener = await startListener({ limits: { dataWindowMs: 100, bytesPerSecond: 100_000 } })
    const client = await openData(listener)
    const timer = setInterval(() => client.write('x'), 5)
    onTestFinished(() => clearInterval(timer))
    expect((await client.reply()).text).toMatch(/^421 4\.4\.2 /)
    await client.closed
    expect(listener.received).toEqual([])
  })
})

describe('connection slots', () => {
  const ports = ['starttls', 'tls'] as const
  const goodbyes = {
    'sends QUIT': async (client: Conversation) => {
      expect((await client.command('QUIT')).code).toBe(221)
      await client.closed
    },
    'drops the connection': async (client: Conversation) => client.destroy(),
  }
  test.each(ports.flatMap(port => Object.entries(goodbyes).map(([name, leave]) => [port, name, leave] as const)))(
    'on %s are released by a client that %s',
    async (port, _, leave) => {
      const listener = await startListener({ env: { SUBMISSION_MAX_CLIENTS_PER_ADDRESS: '2' } })
      for (let i = 0; i < 5; i++) {
        const client = await converse(listener[port], { tls: port === 'tls' })
        expect((await client.reply()).code).toBe(220)
        expect((await client.logIn(LOGIN.username, LOGIN.password)).code).toBe(235)
        await leave(client)
        await until(async () => (await listener.metrics.smtpConnections.get()).values[0]?.value === 0)
      }
    },
  )
})

describe('disconnecting clients', () => {
  test.each([
    ['in DATA', 'From: a@example.org\r\n\r\nhalf a me'],
    ['before the dot', MAIL],
    ['within the end of DATA', `${MAIL}.\r`],
  ])('%s: nothing is accepted, and memory and slots are released', async (_, octets) => {
    const listener = await startListener({
      env: { SUBMISSION_MAX_CLIENTS: '2' },
      limits: { receivingBytes: 20_000 },
    })
    for (let i = 0; i < 10; i++) {
      await until(async () => (await listener.metrics.smtpConnections.get()).values[0]?.value === 0)
      const client = await openData(listener)
      client.write(octets)
      await new Promise(resolve => setImmediate(resolve))
      client.destroy()
    }
    await until(async () => (await listener.metrics.smtpConnections.get()).values[0]?.value === 0)
    expect(listener.received).toEqual([])
    await expectServed(listener)
  })

  test('after the dot: the message is accepted without a reply', async () => {
    const reached = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const listener = await startListener({
      async accept() {
        reached.resolve()
        await answer.promise
        return acceptedAnswer()
      },
    })
    const client = await openData(listener)
    client.write(`${MAIL}.\r\n`)
    await reached.promise
    client.destroy()
    await until(async () => (await listener.metrics.smtpConnections.get()).values[0]?.value === 0)
    answer.resolve()
    await expectServed(listener)
    expect(listener.received).toHaveLength(2)
  })
})

describe('stop()', () => {
  test('answers messages in flight, sends 421 to the others, and accepts no new connections', async () => {
    const reached = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const listener = await startListener({
      async accept() {
        reached.resolve()
        await answer.promise
        return acceptedAnswer()
      },
    })
    const [busy, receiving, idle] = [await openData(listener), await openData(listener), await loggedIn(listener)]
    busy.write(`${MAIL}.\r\n`)
    receiving.write('From: a@example.org\r\n')
    await reached.promise
    const stopped = listener.stop()
    expect((await idle.reply()).text).toMatch(/^421 4\.3\.2 /)
    await idle.closed
    await expect(converse(listener.tls, { tls: true })).rejects.toThrow()
    answer.resolve()
    receiving.write('\r\nhi\r\n.\r\n')
    for (const client of [busy, receiving]) {
      expect((await client.reply()).code).toBe(250)
      expect((await client.reply()).text).toMatch(/^421 4\.3\.2 /)
    }
    await stopped
    expect(listener.received).toHaveLength(2)
  })

  test('does not wait forever', async () => {
    const listener = await startListener({ limits: { drainMs: 50 } })
    const client = await openData(listener)
    await listener.stop()
    await client.closed
    expect(listener.received).toEqual([])
  })
})
