/**
 * Direct delivery: DNS stub, sinks of different behaviour on 127/8, a mongod and the real processes.
 * `node test/bench/direct.ts [scenario] [numbers]`; without a scenario all of them but `soak` and
 * `postfix`, in their small sizes.
 *
 *   site50 [messages] [seconds]            one site that takes 50 a second
 *   forty  [messages] [seconds]            40 healthy sites, beside relay mode (100000 for the full size)
 *   dead   [waiting] [workers] [seconds]   a site that refuses connections (300000); fresh mail for others
 *   silent [waiting] [seconds]             a site that says nothing
 *   slow30 [waiting] [seconds]             a site that takes 30 s a reply
 *   fair   [backlogs]                      account A has these waiting, B sends 10 (0 1000 10000 50000 200000)
 *   claims [backlogs]                      cost of claims (0 10000 100000 1000000)
 *   mixed  [messages] [seconds]            Zipf over 2,000 domains of all behaviours
 *   soak   [minutes]                       mixed traffic with failures, kills and step-downs; a ledger at the end
 *   postfix [messages] [seconds]           forty and mixed with Postfix in our place (root; in namespaces of its own)
 */
import { claims } from './direct/claims.ts'
import { postfix } from './direct/postfix.ts'
import { soak } from './direct/soak.ts'
import { note, printTable, type Row } from './direct/table.ts'
import { forty, mixed, site50 } from './direct/throughput.ts'
import { dead, fair, silent, slow30 } from './direct/waiting.ts'

const scenarios: Record<string, (...numbers: number[]) => Promise<Row[]>> = {
  ...{ site50, forty, dead, silent, slow30, fair, claims, mixed, soak, postfix },
}
async function show(title: string, rows: Promise<Row[]>): Promise<void> {
  const all = await rows
  if (all.length > 0) printTable(title, all)
}

const [name, ...given] = process.argv.slice(2)
if (name !== undefined && !scenarios[name]) {
  note(`there is no scenario ${name}: ${Object.keys(scenarios).join(', ')}`)
  process.exit(1)
}
for (const [title, scenario] of Object.entries(scenarios))
  if (name === title || (name === undefined && title !== 'soak' && title !== 'postfix'))
    await show(title, scenario(...given.map(Number)))
process.exit(0)
