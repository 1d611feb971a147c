/**
 * Kills under load: `node test/bench/kills.ts [kills of workers and mongod] [messages a second]`. One member first,
 * then three with step-downs, then a worker frozen past its lease. Prints a table; exits with 1 if anything was lost.
 */
import { type Disruption, type KillPlan, type KillReport, runKills } from '../support/mail/kills-under-load.ts'

const [kills = 50, rate = 60] = process.argv.slice(2).map(Number)
const say = (line: string) => process.stderr.write(`${line} `)
const alternate =
  (...disruptions: Disruption[]) =>
  (_: unknown, index: number) =>
    disruptions[index % disruptions.length] ?? 'worker'
const common = { workers: 3, pauseMs: 2_500, rate, say } as const
const half = Math.ceil(kills / 2)
const plans: Record<string, KillPlan> = {
  'one member: worker, mongod': {
    ...common,
    members: 1,
    disruptions: Array.from({ length: half }, alternate('worker', 'mongod')),
  },
  'three members: worker, mongod, step-down': {
    ...common,
    members: 3,
    disruptions: Array.from({ length: half }, alternate('worker', 'mongod', 'step-down')),
  },
  'three members: worker frozen past its lease': { ...common, members: 3, disruptions: ['freeze', 'freeze'] },
}

const rows: (KillReport & { plan: string })[] = []
for (const [plan, settings] of Object.entries(plans)) rows.push({ plan, ...(await runKills(settings)) })
const columns = Object.keys(rows[0] ?? {}) as (keyof KillReport)[]
process.stdout.write(`\n| ${columns.join(' | ')} |\n|${columns.map(() => '---').join('|')}|\n`)
for (const row of rows) process.stdout.write(`| ${columns.map(column => row[column]).join(' | ')} |\n`)
process.exit(rows.some(({ lost, unexplained }) => lost + unexplained > 0) ? 1 : 0)
