/** `postwright messages`. */
import { type listEmails as List, listEmails } from '../../generated/mail.ts'
import type { Email } from '../../generated/mail-types.ts'
import { eachItem } from '../../runtime/pages.ts'
import { type Command, choice, choices, given, text, UsageError } from '../command.ts'
import { table } from '../printable.ts'

const STATUSES = [
  ...(['queued', 'scheduled', 'deferred', 'delivered', 'bounced', 'failed', 'suppressed', 'canceled'] as const),
  'complained',
] as const
const SOURCES = ['api', 'smtp', 'system'] as const
const FILTERS = ['q', 'from', 'to', 'domain', 'tag', 'template', 'message_id', 'since', 'until'] as const

/** Items of one request. */
const PAGE = 100

export const messages: Command = {
  name: 'messages',
  summary: 'List messages, newest first',
  help: `Usage: postwright messages [options]

  --q TEXT           messages with all of these words, addresses, ids
  --status STATUS    ${STATUSES.slice(0, 5).join(', ')},
                     ${STATUSES.slice(5).join(', ')};
                     given several times: in one of these
  --from ADDRESS     sender
  --to ADDRESS       recipient
  --domain NAME      sending domain
  --tag TAG          NAME or NAME:VALUE
  --template ID      template
  --message-id ID    Message-ID
  --source SOURCE    ${SOURCES.join(', ')}
  --since TIME       accepted at or after, as in 2026-11-24T00:00:00Z
  --until TIME       accepted before
  --limit N          most messages to list (default 20)
  --all              list every message
`,
  options: {
    ...Object.fromEntries(FILTERS.map(name => [name.replaceAll('_', '-'), { type: 'string' as const }])),
    ...{
      status: { type: 'string', multiple: true },
      source: { type: 'string' },
      limit: { type: 'string' },
      all: { type: 'boolean' },
    },
  },
  positionals: ['[list]'],
  async run(parsed, session) {
    if ((parsed.positionals[0] ?? 'list') !== 'list')
      throw new UsageError(
        `There is no "postwright messages ${parsed.positionals[0]}". For one message: postwright explain <id>`,
      )
    const most = parsed.values.all ? Number.POSITIVE_INFINITY : limitOf(text(parsed, 'limit'))
    const status = choices(parsed, 'status', STATUSES)
    const source = choice(parsed, 'source', SOURCES)
    const query: NonNullable<NonNullable<Parameters<typeof List>[1]>['query']> = {
      ...given(parsed, FILTERS),
      ...{ status, source, limit: Math.min(most, PAGE) },
    }
    const rows: string[][] = []
    let count = 0
    for await (const email of eachItem(listEmails, await session.client(), { query })) {
      if (session.json) session.line(email)
      else rows.push(rowOf(email))
      if (rows.length === PAGE) session.say(table(rows.splice(0)))
      if (++count >= most) break
    }
    if (rows.length > 0) session.say(table(rows))
    if (count === 0) session.note('No message fits.')
    return 0
  },
}

function rowOf({ id, created_at: at, status, recipients, subject }: Email): string[] {
  const [first, ...others] = recipients.map(({ email }) => email)
  return [at, id, status, `${first ?? ''}${others.length > 0 ? ` +${others.length}` : ''}`, subject]
}

function limitOf(value = '20'): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw new UsageError(`--limit must be a whole number of at least 1; it is "${value}".`)
}
