/** Contents that are read once a session is open: when they are asked for, and what becomes of the session. */
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Script, startScriptedServer } from '../../../../test/support/mail/scripted-server.ts'
import { transaction } from '../../../../test/support/mail/smtp-transaction.ts'
import { startTcpServer } from '../../../../test/support/mail/tcp-server.ts'
import { createOutbound } from '../../delivery/smtp/outbound.ts'
import { createTlsPolicy } from '../../delivery/smtp/tls-policy.ts'
import type { Transaction } from '../../delivery/smtp/transport.ts'

const DEADLINES = { connect: 5_000, greeting: 50, command: 5_000, data: 5_000, block: 5_000, dot: 5_000 }

function sendTo({ port, stop }: { port: number; stop(): Promise<void> }, greeting = DEADLINES.greeting) {
  const transport = createOutbound({
    mx: {
      hostsOf: async () => ({ kind: 'hosts', hosts: [] }),
      addressesOf: async () => ({ kind: 'addresses', ips: ['127.0.0.1'] }),
    },
    tlsPolicy: createTlsPolicy({ now: Date.now }),
    ...{ helo: 'us.example', port, deadlines: { ...DEADLINES, greeting }, now: Date.now },
    onConnections: () => undefined,
  })
  onTestFinished(async () => {
    await transport.stop()
    await stop()
  })
  return (open: () => Promise<Transaction | undefined>) =>
    transport.send({ key: 'one', hosts: ['localhost'] }, { recipients: transaction().recipients, open }, 100)
}

/** A server that ends its first session after EHLO; `ended` resolves when the client has seen that. */
async function hasty() {
  const ended = Promise.withResolvers<void>()
  const answers: [RegExp, string][] = [
    [/^DATA/, '354 go on'],
    [/./, '250 ok'],
  ]
  const talk = (socket: Socket, number: number) => {
    socket.on('error', () => undefined)
    socket.on('close', () => ended.resolve())
    socket.write('220 hasty.test\r\n')
    let inContent = false
    socket.on('data', data => {
      const text = data.toString()
      if (number === 1) return void socket.end('250 hasty.test\r\n')
      if (inContent && !text.endsWith('\r\n.\r\n')) return
      const answer = inContent ? '250 ok' : answers.find(([pattern]) => pattern.test(text))?.[1]
      inContent = answer?.startsWith('354') ?? false
      socket.write(`${answer}\r\n`)
    })
  }
  return { ...(await startTcpServer(talk)), ended: ended.promise }
}

describe('a content that is not in memory', () => {
  test.each<[string, Script, number]>([
    ['is not opened for a server that is silent', { greeting: '' }, 0],
    ['is not opened for a server that refuses', { greeting: '554 5.7.1 not you' }, 0],
    ['is opened for a server that opens a session', {}, 1],
  ])('%s', async (_, script, expected) => {
    const server = await startScriptedServer(script)
    let opened = 0
    await sendTo(
      server,
      script.greeting === '' ? 50 : 5_000,
    )(async () => {
      opened++
      return transaction()
    })
    expect([opened, server.contents.length]).toEqual([expected, expected])
  })

  test('and cannot be sent leaves the session to the next one; a failure to read it does not', async () => {
    const server = await startScriptedServer({})
    const send = sendTo(server, 5_000)
    expect((await send(async () => undefined)).outcomes).toEqual([{ kind: 'withheld' }])
    await send(async () => transaction())
    await expect(send(() => Promise.reject(new Error('no body')))).rejects.toThrow('no body')
    await send(async () => transaction())
    expect([server.connections(), server.contents.length]).toEqual([2, 2])
  })

  test('goes over a new session when the server did not wait for it', async () => {
    const server = await hasty()
    const { outcomes } = await sendTo(
      server,
      5_000,
    )(async () => {
      await server.ended
      return transaction()
    })
    expect(outcomes).toMatchObject([{ kind: 'reply', stage: 'dot', reply: { code: 250 } }])
    expect(server.connections()).toBe(2)
  })
})
