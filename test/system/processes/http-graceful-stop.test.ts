/** Stopping the HTTP processes under load: every request that was sent gets a complete response. */
import { Agent, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { connectMongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { giveDomain, giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { freePort, startTestMongod } from '../../support/database/test-mongod.ts'
import { type ServiceProcess, startService } from '../../support/processes/service-process.ts'
import { until } from '../../support/time/until.ts'

const MAINS = ['send', 'panel', 'admin'] as const
const CLIENTS = 12
/** Longest run of a client. */
const CLIENT_MS = 90_000

/** The services for one database, each on its own port. */
async function installation() {
  const mongod = await startTestMongod()
  const uri = mongod.uri.replace('/?', '/drain?')
  const mongo = await connectMongo(uri, silentLog)
  const services = new Map<string, { process: ServiceProcess; port: number; probes: number }>()
  onTestFinished(async () => {
    for (const { process } of services.values()) process.kill('SIGKILL')
    await Promise.all([...services.values()].map(({ process }) => process.exited))
    await mongo.stop()
    await mongod.stop()
  })
  const user = await giveUser(mongo.db)
  await giveDomain(mongo.db, user._id, 'example.org', { status: 'verified', verified_by: 'admin' })
  const { value: token } = await giveToken(mongo.db, user._id)
  const start = async (main: (typeof MAINS)[number], env: Record<string, string> = {}) => {
    const [port, probes] = [await freePort(), await freePort()]
    const process = startService(main, {
      MAIL_HOSTNAME: 'mail.example.com',
      SESSION_SECRET: 'a secret of at least thirty-two bytes',
      MONGODB_URI: uri,
      METRICS_PORT: String(probes),
      APP_PORT: String(port),
      ADMIN_API_PORT: String(port),
      SEND_REQUESTS_PER_SECOND: '100000',
      ...env,
    })
    services.set(main, { process, port, probes })
    await process.line('ready')
    return { process, port, probes }
  }
  return { mongo, start, token }
}

/** The results of one client. */
interface Seen {
  answers: number[]
  /** Ids of accepted messages. */
  ids: string[]
  /** Requests that were sent without getting a complete response. */
  lost: string[]
  /** Responses that announced the end of the connection. */
  closes: number
}

interface Answer {
  status: number
  closes: boolean
  text: string
}

/** Sends one request. Rejects with the code of the error, or `cut` if the response ends early. */
function ask(agent: Agent, port: number, path: string, send?: { token: string; body: string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { ...(send && { authorization: `Bearer ${send.token}`, 'content-type': 'application/json' }) }
    const asked = request({ port, path, agent, headers, method: send ? 'POST' : 'GET' }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('aborted', () => reject(new Error('cut')))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, closes: response.headers.connection === 'close', text }),
      )
    })
    asked.on('error', (error: NodeJS.ErrnoException) => reject(new Error(error.code)))
    asked.end(send?.body)
  })
}

/** Sends one request after another over a kept-alive connection, until the port refuses connections. */
async function busyClient(port: number, path: string, token?: string): Promise<Seen> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const seen: Seen = { answers: [], ids: [], lost: [], closes: 0 }
  const body = JSON.stringify({ from: 'a@example.org', to: ['b@example.net'], subject: 'x', text: 'x' })
  try {
    const deadline = performance.now() + CLIENT_MS
    while (performance.now() < deadline) {
      const { status, closes, text } = await ask(agent, port, path, token ? { token, body } : undefined)
      seen.answers.push(status)
      if (closes) seen.closes++
      if (token) seen.ids.push((JSON.parse(text) as { id: string }).id)
    }
    seen.lost.push('the port still accepts requests')
    return seen
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    if (why !== 'ECONNREFUSED') seen.lost.push(why)
    return seen
  } finally {
    agent.destroy()
  }
}

test('busy clients with kept-alive connections lose no request when a process stops', async () => {
  const { mongo, start, token } = await installation()
  const paths = { send: '/api/v1/emails', panel: '/openapi.json', admin: '/openapi.json' }
  const results = []
  for (const main of MAINS) {
    const { process, port, probes } = await start(main)
    const clients = Array.from({ length: CLIENTS }, () =>
      busyClient(port, paths[main], main === 'send' ? token : undefined),
    )
    // Each connection has carried requests, and all of them are busy.
    const served = async () => {
      const text = await (await fetch(`http://127.0.0.1:${probes}/metrics`)).text()
      const counts = [...text.matchAll(/^postwright_http_request_duration_seconds_count\{[^}]*\} (\d+)$/gm)]
      return counts.reduce((sum, [, count]) => sum + Number(count), 0)
    }
    await until(async () => (await served()) > 20 * CLIENTS, 60_000)
    const asked = performance.now()
    process.kill('SIGTERM')
    const code = await process.exited
    const seen = await Promise.all(clients)
    const ids = seen.flatMap(client => client.ids)
    results.push({
      main,
      code,
      lost: seen.flatMap(({ lost }) => lost),
      quick: performance.now() - asked < 15_000,
      // Every connection was closed by a response that announced it.
      announced: seen.every(({ closes }) => closes === 1),
      answers: [...new Set(seen.flatMap(({ answers }) => answers))],
      ...(main === 'send' && {
        unanswered: (await mongo.db.collection('messages').countDocuments()) - ids.length,
      }),
    })
  }
  expect(results).toEqual([
    { main: 'send', code: 0, lost: [], quick: true, announced: true, answers: [202], unanswered: 0 },
    { main: 'panel', code: 0, lost: [], quick: true, announced: true, answers: [200] },
    { main: 'admin', code: 0, lost: [], quick: true, announced: true, answers: [200] },
  ])
}, 300_000)

test('readiness fails first, requests are served for SHUTDOWN_DELAY_SECONDS, and streams end in order', async () => {
  const { start, token } = await installation()
  const { process, port, probes } = await start('send', { SHUTDOWN_DELAY_SECONDS: '10' })
  const url = `http://127.0.0.1:${port}`
  const authorization = `Bearer ${token}`
  const stream = await fetch(`${url}/api/v1/events/stream`, { headers: { authorization } })
  const events = stream.text() // rejects when the stream is cut instead of ended
  const ready = async (at: number) => {
    const answer = await fetch(`http://127.0.0.1:${at}/readyz`)
    return [answer.status, await answer.text()]
  }
  expect(await ready(probes)).toEqual([200, 'ready\n'])
  process.kill('SIGTERM')
  await process.line('stopping')
  expect(await ready(probes)).toEqual([503, 'draining\n'])
  expect(await ready(port)).toEqual([503, 'draining\n'])
  const answer = await fetch(`${url}/api/v1/emails`, { headers: { authorization } })
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  // A client that opens a stream at a stopping process gets a complete, empty stream.
  const again = await fetch(`${url}/api/v1/events/stream`, { headers: { authorization } })
  expect([again.status, await again.text()]).toEqual([200, 'retry: 2000\n\n'])
  expect(await events).toMatch(/^retry: 2000/)
  expect(await process.exited).toBe(0)
})
