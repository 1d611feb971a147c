/** `postwright tail`. */
import { followEvents, type MailEvent } from '../../runtime/events.ts'
import { type Command, texts } from '../command.ts'
import { oneLine } from '../printable.ts'

export const tail: Command = {
  name: 'tail',
  summary: 'Follow the events of the account live',
  help: `Usage: postwright tail [--type TYPE]

Prints events as they happen, until Ctrl-C. A lost connection is made again, and what happened in
between is printed then.

  --type TYPE   only events of this type, as in email.bounced or email.*; repeat it for several
`,
  options: { type: { type: 'string', multiple: true } },
  positionals: [],
  async run(parsed, session) {
    const types = texts(parsed, 'type')
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
    const events = followEvents(await session.client(), {
      signal: stop.signal,
      onReconnect: reason => session.note(`${reason?.message ?? 'The connection ended.'} Connecting again …`),
    })
    for await (const event of events) {
      if (types.length > 0 && !types.some(type => fits(event.type, type))) continue
      if (session.json) session.line(event)
      else session.say(lineOf(event))
    }
    return 0
  },
}

function fits(type: string, wanted: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted
}

function lineOf({ timestamp, type, recipient, email_id: id, text, data }: MailEvent): string {
  const about = recipient ?? String(data?.name ?? data?.email ?? '')
  return oneLine([timestamp, type.padEnd(16), about, id ?? '', text ?? ''].join(' '))
}
