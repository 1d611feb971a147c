import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { redact } from './log.ts'

describe('redaction', () => {
  const cases: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['nothing to hide', { user: 'u', ms: 3 }, { user: 'u', ms: 3 }],
    ['first level', { user: 'u', password: 'p' }, { user: 'u', password: '[redacted]' }],
    ['second level', { req: { cookie: 'c', url: '/' } }, { req: { cookie: '[redacted]', url: '/' } }],
    ['an object under a secret key', { token: { a: 1 } }, { token: '[redacted]' }],
    ['null and lists stay', { a: null, list: [{ secret: 1 }] }, { a: null, list: [{ secret: 1 }] }],
  ]
  it.each(cases)('%s', (_, given, expected) => {
    const before = structuredClone(given)
    expect(redact(given)).toEqual(expected)
    expect(given).toEqual(before)
  })

  it('copies nothing where there is nothing to hide', () => {
    const fields = { user: 'u', via: { channel: 'smtp' } }
    expect(redact(fields)).toBe(fields)
  })
})

describe('the logger of a process', () => {
  const source = JSON.stringify(join(import.meta.dirname, 'log.ts'))

  /** Runs a program that has `log`, and returns its exit code and its lines. */
  async function run(body: string): Promise<{ code: number; lines: Record<string, unknown>[] }> {
    const program = `import { createLog } from ${source}
const log = createLog('info', 'test')
${body}`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    const [code] = (await once(child, 'close')) as [number]
    return { code, lines: text.split('\n').flatMap(line => (line ? [JSON.parse(line)] : [])) }
  }

  it.each([
    ['process.exit', 'process.exit(3)', 3],
    ['an uncaught error', "throw new Error('boom')", 1],
    ['the end of the program', '', 0],
  ])('writes every line before %s', async (_, end, code) => {
    const result = await run(`for (let n = 0; n < 500; n++) log.info({ n, fill: 'x'.repeat(1_000) }, 'line')\n${end}`)
    expect(result.code).toBe(code)
    expect(result.lines.map(({ n }) => n)).toEqual(Array.from({ length: 500 }, (_, n) => n))
  })

  it.each([
    ['process.exit', 'process.exit(3)', 3],
    ['the end of the program', '', 0],
  ])('lets the program go on to %s when lines cannot be written', async (_, end, code) => {
    const full = await open('/dev/full', 'w')
    const program = `const log = (await import(${source})).createLog('info', 'test')
log.error({}, 'the disk is full')
setTimeout(() => { log.error({}, 'still full'); ${end} }, 200)`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', full.fd, 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await full.close()
    expect(await once(child, 'exit')).toEqual([code, null])
  })

  it.each([
    ['process.exit', 'process.exit(3)', 3],
    ['an uncaught error', "throw new Error('boom')", 1],
    ['the end of the program', '', 0],
  ])('does not wait at %s for a disk that is full by then', async (_, end, code) => {
    const folder = await mkdtemp(join(tmpdir(), 'pw-log-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const program = `const log = (await import(${source})).createLog('info', 'test')
for (let n = 0; n < 300; n++) log.info({ n, fill: 'x'.repeat(100) }, 'line')
${end}`
    // Files end at 8 KiB: a part of the lines can be written, the first error occurs with the rest.
    const shell = `ulimit -f 8; exec "$0" --input-type=module-typescript -e "$1" > "$2"`
    const child = spawn('/bin/bash', ['-c', shell, process.execPath, program, join(folder, 'log')], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await once(child, 'exit')).toEqual([code, null])
    expect((await readFile(join(folder, 'log'))).length).toBe(8_192)
  })

  it('keeps secrets out of fields and of errors', async () => {
    const { lines } = await run(`log.info({ password: 'hunter2', req: { cookie: 'hunter2' } }, 'a')
log.warn({ err: Object.assign(new Error('failed'), { body: 'hunter2' }) }, 'b')`)
    expect(lines).toHaveLength(2)
    expect(JSON.stringify(lines)).not.toContain('hunter2')
    expect(lines[1]).toMatchObject({ level: 'warn', service: 'test', err: { message: 'failed', type: 'Error' } })
  })

  /** Runs a program that never ends, until `many` lines came. */
  async function firstLines(program: string, many: number): Promise<string[]> {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) if (lines.push(JSON.parse(line).msg) === many) break
    return lines
  }

  it.each(['warn', 'error'])('writes %s immediately, with everything before it', async level => {
    const program = `globalThis.setInterval = () => ({ unref() {} }) // nothing is written by the clock
const log = (await import(${source})).createLog('info', 'test')
log.info({}, 'before')
log.${level}({}, 'a person must know')
setTimeout(() => undefined, 1e9)`
    expect(await firstLines(program, 2)).toEqual(['before', 'a person must know'])
  })

  it('writes what waits within a moment, without more lines and without an end', async () => {
    const program = `import { createLog } from ${source}
createLog('info', 'test').info({}, 'alone')
setTimeout(() => undefined, 1e9)`
    expect(await firstLines(program, 1)).toEqual(['alone'])
  })

  it('continues while its output is not read', async () => {
    const program = `import { createLog } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))}
const log = createLog('info', 'test')
let turns = 0
const write = () => {
  log.info({ fill: 'x'.repeat(10_000) }, 'line')
  if (++turns < 200) setImmediate(write)
  else process.stderr.write('done')
}
write()`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const started = once(child.stderr, 'data')
    expect(String((await started)[0])).toBe('done')
    child.stdout.resume()
    await once(child, 'close')
  })
})
