/**
 * DNS: plans a second, and re-checks of many verified domains against Knot: time, queries, memory.
 * `node test/bench/dns.ts [domains]`; starts a mongod and a Knot of its own.
 */
import { generateKeyPairSync } from 'node:crypto'
import { createDnsDeps } from '../../services/mail/dns/dns-context.ts'
import { planDns } from '../../services/mail/dns/plan/dns-plan.ts'
import { publicKeyValue } from '../../services/mail/dns/records/dkim.ts'
import { guidance, spfTerms } from '../../services/mail/dns/records/guidance.ts'
import { quoteTxt } from '../../services/mail/dns/records/record.ts'
import { checkDueDomains } from '../../services/mail/domains/checks/dns-check-job.ts'
import { dnsCollections } from '../../services/mail/domains/store/dns-collections.ts'
import type { DomainDoc } from '../../services/mail/domains/store/domain-model.ts'
import { domains } from '../../services/mail/domains/store/domain-model.ts'
import { collectionOf, connectMongo, ensureIndexes } from '../../services/platform/database/mongo.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { startTestMongod } from '../support/database/test-mongod.ts'
import { startDnsServer } from '../support/dns/authoritative-servers.ts'
import { testFoundation } from '../support/processes/test-foundation.ts'

const [count = 10_000] = process.argv.slice(2).map(Number)
const HOST = { hostname: 'mail.sender.test', addresses: ['192.0.2.10'], spfMechanisms: [] }
const created = new Date('2026-01-01T00:00:00Z')
const publicKey = publicKeyValue(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey)

const domain = (index: number): DomainDoc => ({
  _id: `dom_${String(index).padStart(6, '0')}`,
  user_id: 'usr_bench',
  name: `d${index}.bench.test`,
  status: 'verified',
  verified_by: 'dns',
  verified_at: created,
  verification_token: `token-${index}`,
  dkim: [
    {
      selector: 's1',
      algorithm: 'rsa-sha256',
      public_key: publicKey,
      sealed_private_key: '',
      state: 'active',
      created_at: created,
      activated_at: created,
    },
  ],
  next_check_at: created,
  created_at: created,
  updated_at: created,
})

function plansPerSecond(): number {
  const subject = domain(1)
  const rows = guidance(subject, HOST)
  const zone = { id: 'z', name: 'bench.test', minTtl: 60, maxTxt: 512 }
  const spf = {
    id: '1',
    name: subject.name,
    type: 'TXT',
    value: 'v=spf1 mx include:a.example include:b.example -all',
    ttl: 60,
  }
  const started = performance.now()
  const runs = 20_000
  for (let i = 0; i < runs; i++)
    planDns({
      rows,
      zoneOf: () => zone,
      current: name => (name === subject.name ? [spf] : []),
      owned: [],
      accepted: new Set(),
      spfTerms: spfTerms(subject, HOST),
      inheritedDmarc: { kind: 'none' },
    })
  return runs / ((performance.now() - started) / 1000)
}

async function recheck(): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => domain(index))
  const lines = all.flatMap(each =>
    guidance(each, HOST)
      .filter(row => row.type === 'TXT' && row.writable)
      .map(row => `${row.name}. 600 IN TXT ${quoteTxt(row.value)}`),
  )
  const server = await startDnsServer('knot', [
    { name: 'bench.test', lines },
    { name: 'sender.test', lines: ['mail IN A 192.0.2.10'] },
    { name: '2.0.192.in-addr.arpa', lines: ['10 IN PTR mail.sender.test.'] },
  ])
  const mongod = await startTestMongod()
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'bench' })
  await ensureIndexes(mongo.db, [domains, ...dnsCollections])
  await collectionOf(mongo.db, domains).insertMany(all)
  let queries = 0
  const outcomes = new Map<string, number>()
  const log = {
    ...silentLog,
    info(fields: { queries?: number; outcome?: string }) {
      queries += fields.queries ?? 0
      if (fields.outcome) outcomes.set(fields.outcome, (outcomes.get(fields.outcome) ?? 0) + 1)
    },
  }
  const foundation = testFoundation(mongo, {
    MAIL_HOSTNAME: HOST.hostname,
    SENDING_IP: '192.0.2.10',
    DNS_SERVERS: `127.0.0.1:${server.port}`,
    DNS_PORT: String(server.port),
    DNS_ALLOW_PRIVATE: 'true',
  })
  const before = process.memoryUsage.rss()
  let peak = before
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 200)
  const cpu = process.cpuUsage()
  const started = performance.now()
  const checked = await checkDueDomains(createDnsDeps({ ...foundation, log }), {
    signal: new AbortController().signal,
    touch: async () => undefined,
  })
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(sampler)
  const mib = (bytes: number) => Math.round(bytes / 1024 / 1024)
  console.log(
    `${checked} domains in ${seconds.toFixed(1)} s: ${Math.round(checked / seconds)} a second, CPU ${((user + system) / 1e6).toFixed(1)} s`,
  )
  console.log(
    `${queries} queries, ${(queries / checked).toFixed(1)} a domain; outcomes ${JSON.stringify(Object.fromEntries(outcomes))}`,
  )
  console.log(`memory ${mib(before)} MiB before, ${mib(peak)} MiB at the peak`)
  await mongo.stop()
  await mongod.stop()
  await server.stop()
}

console.log(`${Math.round(plansPerSecond())} plans a second`)
await recheck()
