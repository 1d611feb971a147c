/** `postwright domains`. */

import { createDomain, getDomain, listDomains, verifyDomain } from '../../generated/mail.ts'
import type { DnsRecord, Domain } from '../../generated/mail-types.ts'
import type { Client } from '../../runtime/client.ts'
import { eachItem } from '../../runtime/pages.ts'
import { type Command, UsageError } from '../command.ts'
import { oneLine, table } from '../printable.ts'
import type { Session } from '../session.ts'

export const domains: Command = {
  name: 'domains',
  summary: 'List, show, add and check sending domains',
  help: `Usage: postwright domains [list]
       postwright domains show <domain>    the DNS records to publish, and their state
       postwright domains add <domain>     register a domain
       postwright domains check <domain>   check its DNS records now; exit code 1 unless it is verified

<domain> is a name (example.com) or an id (dom_…).
`,
  options: {},
  positionals: ['[action]', '[domain]'],
  async run({ positionals: [action = 'list', name] }, session) {
    const handle = ACTIONS[action]
    if (!handle) throw new UsageError(`There is no "postwright domains ${action}".`)
    if (action === 'list' && name !== undefined) throw new UsageError(`The argument "${name}" is one too many.`)
    if (action !== 'list' && name === undefined) throw new UsageError('The argument <domain> is missing.')
    return handle(await session.client(), session, name ?? '')
  },
}

const ACTIONS: Readonly<Record<string, (client: Client, session: Session, name: string) => Promise<number>>> = {
  async list(client, session) {
    const rows: string[][] = []
    for await (const domain of eachItem(listDomains, client, { query: { limit: 100 } }))
      if (session.json) session.line(domain)
      else rows.push([domain.name, domain.status, domain.may_send ? 'may send' : 'may not send', domain.id])
    if (rows.length > 0) session.say(table(rows))
    else if (!session.json) session.note('There is no domain yet. Add one: postwright domains add <domain>')
    return 0
  },
  async show(client, session, id) {
    return show(await getDomain(client, { path: { id } }), session)
  },
  async add(client, session, name) {
    const domain = await createDomain(client, { body: { name } })
    show(domain, session)
    if (!session.json) session.note(`Publish these records, then run: postwright domains check ${domain.name}`)
    return 0
  },
  async check(client, session, id) {
    const check = await verifyDomain(client, { path: { id } })
    if (session.json) session.data(check)
    else {
      session.say(`${id}: ${check.outcome}`)
      for (const error of check.errors) session.say(`  ${oneLine(error)}`)
      for (const record of check.records)
        session.say([`  ${record.id}: ${record.status}`, ...findings(record)].join('\n'))
    }
    return check.outcome === 'verified' ? 0 : 1
  },
}

function show(domain: Domain, session: Session): number {
  if (session.json) session.data(domain)
  else
    session.say(
      [
        `${domain.name}: ${domain.status}, ${domain.may_send ? 'may send' : 'may not send'}`,
        ...domain.records.map(describe),
      ].join('\n\n'),
    )
  return 0
}

/** A record as it is published, with what its last check found. */
function describe(record: DnsRecord): string {
  const { id, need, status, name, ttl, type, publish, note } = record
  const value = type === 'TXT' ? `"${publish}"` : publish
  const remarks = note === null ? [] : [`    ${oneLine(note)}`]
  return [
    `  ${id} (${need}): ${status}`,
    `    ${name}. ${ttl} IN ${type} ${value}`,
    ...remarks,
    ...findings(record),
  ].join('\n')
}

function findings({
  errors,
  warnings,
  instructions,
}: Pick<DnsRecord, 'errors' | 'warnings' | 'instructions'>): string[] {
  return [...errors, ...warnings, ...instructions].map(text => `    ${oneLine(text)}`)
}
