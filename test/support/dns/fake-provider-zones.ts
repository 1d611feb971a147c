/** Zones of the fake cloud providers, and a DNS server for them, so that checks read what writes produced. */
import { createSocket } from 'node:dgram'
import * as packet from 'dns-packet'

/** A record as a vendor stores it; TXT values joined, MX as `10 mx.example.com`. */
export interface FakeRecord {
  id: number
  /** Fully qualified. */
  name: string
  type: string
  value: string
  ttl: number
  /** Served for one carrier or region only, unless `default`. */
  line: string
  locked?: boolean
  disabled?: boolean
  proxied?: boolean
  comment?: string
  /** Lists contain it only from this time (ms since 1970). */
  visibleFrom?: number
}

/** A zone of a fake vendor account. */
export interface FakeZone {
  id: number
  name: string
  /** The display name; differs for internationalized names. */
  unicode?: string
  minTtl: number
  /** The vendor's name of its state. */
  status: string
  records: FakeRecord[]
}

/** Preference and host of an MX value, which every vendor has in two fields. */
export function mxParts(value: string): { preference: number; host: string } {
  const [preference, host = ''] = value.split(' ')
  return { preference: Number(preference), host }
}

/** All zones of one fake vendor account. */
export interface FakeStore {
  zones: FakeZone[]
  zone(name: string): FakeZone
  /** Adds a record that another program could have written. */
  put(zone: string, record: Partial<FakeRecord> & Pick<FakeRecord, 'name' | 'type' | 'value'>): FakeRecord
  nextId(): number
}

/** A store with empty zones. */
export function createFakeStore(names: readonly string[], minTtl: number): FakeStore {
  let id = 1000
  const nextId = () => ++id
  const zones = names.map((name): FakeZone => ({ id: nextId(), name, minTtl, status: 'active', records: [] }))
  const store: FakeStore = {
    zones,
    nextId,
    zone(name) {
      const zone = zones.find(candidate => candidate.name === name)
      if (!zone) throw new Error(`no zone ${name}`)
      return zone
    },
    put(zone, record) {
      const made = { id: nextId(), ttl: minTtl, line: 'default', ...record }
      store.zone(zone).records.push(made)
      return made
    },
  }
  return store
}

/** Makes the set of a name and type hold these values; records whose value stays or is replaced keep their identity. */
export function replaceSet(
  store: FakeStore,
  zone: FakeZone,
  { name, type, ttl, values }: Pick<FakeRecord, 'name' | 'type' | 'ttl'> & { values: readonly string[] },
): void {
  const current = zone.records.filter(
    record => record.name === name && record.type === type && record.line === 'default',
  )
  const added = values.filter(value => !current.some(record => record.value === value))
  for (const record of current) {
    record.ttl = ttl
    if (values.includes(record.value)) continue
    const value = added.shift()
    if (value === undefined) zone.records.splice(zone.records.indexOf(record), 1)
    else record.value = value
  }
  for (const value of added) zone.records.push({ id: store.nextId(), name, type, value, ttl, line: 'default' })
}

/** A running answerer. */
export interface Answerer {
  port: number
  stop(): Promise<void>
}

/** Serves the enabled records of the default line over UDP as an authoritative server. */
export async function startAnswerer(store: FakeStore): Promise<Answerer> {
  const socket = createSocket('udp4')
  socket.on('message', (query, client) => {
    const { id = 0, questions = [] } = packet.decode(query)
    const [question] = questions
    const name = question?.name.toLowerCase() ?? ''
    const zone = store.zones
      .filter(each => name === each.name || name.endsWith(`.${each.name}`))
      .toSorted((a, b) => b.name.length - a.name.length)[0]
    const here =
      zone?.records.filter(record => record.name === name && record.line === 'default' && !record.disabled) ?? []
    const answers = here.filter(({ type }) => type === question?.type || type === 'CNAME').map(toAnswer)
    const rcode = zone && (here.length > 0 || name === zone.name) ? 0 : 3
    socket.send(
      packet.encode({ type: 'response', id, flags: 0x0400 | rcode, questions, answers }),
      client.port,
      client.address,
    )
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  return { port: socket.address().port, stop: () => new Promise(resolve => socket.close(() => resolve())) }
}

function toAnswer({ name, type, value, ttl }: FakeRecord): packet.Answer {
  if (type === 'TXT') return { name, type, ttl, data: value.match(/[\s\S]{1,255}/g) ?? [''] }
  if (type === 'MX') {
    const { preference, host } = mxParts(value)
    return { name, type, ttl, data: { preference, exchange: host } }
  }
  return { name, type, ttl, data: value } as packet.Answer
}
