import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cpuOf, DEFAULTS, LOG_OCTETS, needsOf, rateOf } from './scaling-model.ts'

const ROOT = join(import.meta.dirname, '..')
/** How far the model may be from a measurement: two runs of one day differ as much. */
const TOLERANCE = 0.15
const near = (value: number, measured: number) => Math.abs(value / measured - 1) <= TOLERANCE
const number = (text: string | undefined) => Number(text?.replaceAll(',', '') ?? Number.NaN)

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise(done => {
    execFile(process.execPath, [join(ROOT, 'scripts/scaling.ts'), ...args], (error, stdout, stderr) =>
      done({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

describe('the model agrees with what docs/performance.md says was measured on two cores', async () => {
  const text = await readFile(join(ROOT, 'docs/performance.md'), 'utf8')
  const rows = [
    ...text.matchAll(/^\| \*\*Postwright\*\* \| [\d,]+ \| \*\*([\d,]+)\*\* \| [^|]+ \| \*\*([\d.]+) ms\*\* \|$/gm),
  ]
  const at50 = /^\| \*\*Postwright\*\* \| 527 \| \*\*([\d,]+)\*\* \| 27 ms \| \*\*([\d.]+) ms\*\* \|$/m.exec(text)
  const total = (kib: number) => {
    const { smtp, worker, database } = cpuOf(kib)
    return smtp + worker + database
  }
  const alone =
    /^\| delivery alone, from a filled queue \| ([\d,]+) a second; ([\d.]+) ms.*?([\d.]+) ms in mongod/m.exec(text)
  const http = /^\| durable accept over HTTP.*?; ([\d.]+) ms in the send process/m.exec(text)
  const smtp = /^\| durable accept over SMTP.*?; ([\d.]+) ms of CPU in the SMTP process/m.exec(text)
  const log = /^Disk, for a message of one recipient:.*: (\d+)$/m.exec(text)

  test.each([
    ['CPU at 4 KiB', total(4), number(rows[0]?.[2])],
    ['messages a second at 4 KiB', rateOf(2, 4), number(rows[0]?.[1])],
    ['CPU at 50 KiB', total(50), number(at50?.[2])],
    ['messages a second at 50 KiB', rateOf(2, 50), number(at50?.[1])],
    [
      'CPU of a worker and the database for delivery alone',
      cpuOf(4).worker + 0.24,
      number(alone?.[2]) + number(alone?.[3]),
    ],
    ['CPU of an SMTP process', cpuOf(4).smtp, number(smtp?.[1])],
    ['CPU of a send process', cpuOf(4).send, number(http?.[1])],
    ['octets of a message in the log', LOG_OCTETS, number(log?.[1])],
  ])('%s', (_, value, measured) => {
    expect(measured).toBeGreaterThan(0)
    expect([value, measured, near(value, measured)]).toEqual([value, measured, true])
  })
})

describe('what a load needs', () => {
  test('is never less for more mail, larger mail, slower receivers or longer retention', () => {
    const before = needsOf(DEFAULTS)
    for (const change of [{ messages: 1e7 }, { kib: 200 }, { replyMs: 60_000 }, { bodyDays: 60 }, { logDays: 900 }]) {
      const after = needsOf({ ...DEFAULTS, ...change })
      for (const name of ['rate', 'workers', 'shards', 'disk', 'cores', 'addresses'] as const)
        if (name !== 'disk' || after.shards === before.shards) expect(after[name]).toBeGreaterThanOrEqual(before[name])
    }
  })

  test('has two processes of each kind that is used, and none of one that is not', () => {
    expect(needsOf({ ...DEFAULTS, http: 0 })).toMatchObject({ smtp: 2, send: 0, workers: 2, shards: 1 })
    expect(needsOf({ ...DEFAULTS, http: 1 })).toMatchObject({ smtp: 0, send: 2 })
    expect(needsOf({ ...DEFAULTS, messages: 0 })).toMatchObject({ rate: 0, workers: 0, shards: 1, disk: 0 })
  })

  test('grows in shards once one set of members is not enough', () => {
    const shards = [1, 10, 100, 1_000].map(times => needsOf({ ...DEFAULTS, messages: 1e6 * times }).shards)
    expect(shards.toSorted((a, b) => a - b)).toEqual(shards)
    expect([shards[0], (shards[3] ?? 0) > 10]).toEqual([1, true])
  })

  test.each([
    ['a negative number', { messages: -1 }],
    ['no number', { kib: Number.NaN }],
    ['an endless number', { messages: Number.POSITIVE_INFINITY }],
    ['a core without speed', { speed: 0 }],
    ['a share above 1', { http: 1.5 }],
  ])('of %s is refused', (_, change) => {
    expect(() => needsOf({ ...DEFAULTS, ...change })).toThrow(RangeError)
  })
})

describe('the command', () => {
  test('prints four columns, and takes values by name', async () => {
    const { code, stdout } = await run('messages=1000000', 'kib=4')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +x 1 +x 10 +x 100 +x 1000$/m)
    expect(stdout).toMatch(/^messages a second at the peak +58 +579 +5,787 +57,870$/m)
  })

  test.each([['size=4'], ['messages'], ['messages='], ['messages=many'], ['http=2'], ['toString=1']])(
    'refuses %s and says how it is used',
    async arg => {
      expect(await run(arg)).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('usage: ') })
    },
  )

  test('docs/scaling.md shows what it prints', async () => {
    const text = await readFile(join(ROOT, 'docs/scaling.md'), 'utf8')
    expect(text).toContain((await run()).stdout)
    for (const name of Object.keys(DEFAULTS)) expect(text).toContain(`\`${name}\``)
  })
})
