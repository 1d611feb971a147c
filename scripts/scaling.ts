/**
 * `node scripts/scaling.ts [name=value …]` prints what a load needs, and what ten, a hundred and a thousand times of it
 * need. Without values it is a small installation; docs/scaling.md lists the names.
 */
import { DEFAULTS, type Load, type Needs, needsOf } from './scaling-model.ts'

/** Exit code for wrong arguments (EX_USAGE of sysexits.h). */
const EX_USAGE = 64
const TIMES = [1, 10, 100, 1_000]
const ROWS: readonly [name: string, text: (needs: Needs) => string][] = [
  ['messages a second at the peak', ({ rate }) => rounded(rate)],
  ['SMTP processes', ({ smtp }) => rounded(smtp)],
  ['send processes', ({ send }) => rounded(send)],
  ['workers', ({ workers }) => rounded(workers)],
  ['shards of three members', ({ shards }) => rounded(shards)],
  ['GB of data a shard', ({ data }) => rounded(data)],
  ['GB of disk a member', ({ disk }) => rounded(disk)],
  ['cores in all', ({ cores }) => rounded(cores)],
  ['sending addresses', ({ addresses }) => rounded(addresses)],
  ['money a month', ({ money }) => rounded(money)],
]

try {
  const load = readLoad(process.argv.slice(2))
  const needs = TIMES.map(times => needsOf({ ...load, messages: load.messages * times }))
  const lines = [['', ...TIMES.map(times => `x ${times}`)], ...ROWS.map(([name, text]) => [name, ...needs.map(text)])]
  for (const [name = '', ...values] of lines)
    process.stdout.write(`${name.padEnd(31)}${values.map(value => value.padStart(13)).join('')}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.stderr.write(`usage: node scripts/scaling.ts [name=value …], with ${Object.keys(DEFAULTS).join(', ')}\n`)
  process.exitCode = EX_USAGE
}

function readLoad(args: readonly string[]): Load {
  const given = args.map(arg => {
    const [name = '', value = ''] = arg.split('=')
    if (!Object.hasOwn(DEFAULTS, name) || value.trim() === '') throw new RangeError(`${arg} is no name=value`)
    return [name, Number(value)]
  })
  return { ...DEFAULTS, ...Object.fromEntries(given) }
}

function rounded(value: number): string {
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}
