/** Load over a fixed number of connections: as fast as possible, or at a rate. */
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

/** The result of a run; times in milliseconds. */
export interface Load {
  rps: number
  p50: number
  p99: number
  max: number
  /** CPU milliseconds of the watched process per request, which a busy machine does not distort. */
  cpu: number
}

/** One request; rejects if the response is not as expected. */
export type Send = (n: number) => Promise<unknown>

/** A client that keeps `connections` open to an origin. */
export function createClient(origin: string, connections: number) {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  return {
    async call(path: string, headers: Record<string, string>, body?: string): Promise<void> {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const method = body === undefined ? 'GET' : 'POST'
      const given = { path, method, headers: { ...headers, ...type } } as const
      const answer = await pool.request(body === undefined ? given : { ...given, body })
      const text = await answer.body.text()
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`)
    },
    stop: () => pool.close(),
  }
}

/** Keeps all connections busy. */
export async function fullSpeed(connections: number, seconds: number, pid: number, send: Send): Promise<Load> {
  const run = record(pid)
  const end = performance.now() + seconds * 1000
  let n = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        const started = performance.now()
        await send(n++)
        run.took(performance.now() - started)
      }
    }),
  )
  return run.result()
}

/**
 * Sends `rate` requests a second. A time counts from when the request was due, not from when it got a connection, so that
 * one slow response affects all that waited for it.
 */
export async function atRate(rate: number, seconds: number, pid: number, send: Send): Promise<Load> {
  const run = record(pid)
  const started = performance.now()
  const total = Math.round(rate * seconds)
  const underWay: Promise<void>[] = []
  for (let n = 0; n < total; ) {
    for (const now = performance.now(); n < total && started + (n * 1000) / rate <= now; n++) {
      const due = started + (n * 1000) / rate
      underWay.push(
        send(n).then(() => {
          run.took(performance.now() - due)
        }),
      )
    }
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  await Promise.all(underWay)
  return run.result()
}

function record(pid: number) {
  const times: number[] = []
  const started = performance.now()
  const cpuBefore = cpuOf(pid)
  return {
    took: (ms: number) => times.push(ms),
    result(): Load {
      const seconds = (performance.now() - started) / 1000
      const cpu = (cpuOf(pid) - cpuBefore) / times.length
      times.sort((a, b) => a - b)
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
      return { rps: times.length / seconds, p50: at(0.5), p99: at(0.99), max: at(1), cpu }
    },
  }
}

/** CPU milliseconds of a process until now: user and system ticks of 10 ms (proc(5), fields 14 and 15). */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
