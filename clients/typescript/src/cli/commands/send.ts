/** `postwright send`. */
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { sendEmail, sendRawEmail } from '../../generated/mail.ts'
import type { EmailAccepted, EmailRequest } from '../../generated/mail-types.ts'
import { type Command, choice, given, type Parsed, required, text, texts, UsageError } from '../command.ts'
import type { Session } from '../session.ts'
import { readStdin } from '../stdin.ts'

export const send: Command = {
  name: 'send',
  summary: 'Send a message',
  help: `Usage: postwright send --from ADDRESS --to ADDRESS --subject TEXT [body] [options]

  --from ADDRESS         sender, as in 'Ann <ann@example.com>'
  --to ADDRESS           recipient; repeat it for several (--cc and --bcc as well)
  --subject TEXT
  --reply-to ADDRESS

Body, one or both of text and HTML; without any, text is read from stdin:
  --text TEXT            "-" reads stdin
  --html HTML            "-" reads stdin
  --file PATH            text; HTML where the name ends with .html or .htm; a finished message
                         (RFC 5322) where it ends with .eml

  --attach PATH          file to attach; repeat it for several
  --tag NAME=VALUE       tag for searches and webhooks; repeat it for several
  --at TIME              send at this time, as in 2026-12-24T08:00:00Z
  --stream STREAM        transactional (default) or bulk
  --idempotency-key KEY  a repeat with the same key within 24 hours sends nothing
  --dry-run              show what would be sent
`,
  options: {
    ...{ from: { type: 'string' }, subject: { type: 'string' }, 'reply-to': { type: 'string' } },
    ...{ to: { type: 'string', multiple: true }, cc: { type: 'string', multiple: true } },
    ...{ bcc: { type: 'string', multiple: true }, text: { type: 'string' }, html: { type: 'string' } },
    ...{ file: { type: 'string' }, attach: { type: 'string', multiple: true } },
    ...{ tag: { type: 'string', multiple: true }, at: { type: 'string' }, stream: { type: 'string' } },
    ...{ 'idempotency-key': { type: 'string' }, 'dry-run': { type: 'boolean' } },
  },
  positionals: [],
  async run(parsed, session) {
    const key = text(parsed, 'idempotency-key')
    const options = key === undefined ? {} : { idempotencyKey: key }
    if (text(parsed, 'file')?.endsWith('.eml')) return sendFinished(parsed, session, options)
    const body = await messageOf(parsed)
    const client = await session.client()
    if (parsed.values['dry-run']) {
      const preview = await sendEmail(client, { body, query: { dry_run: 'true' }, ...options })
      if (session.json) session.data(preview)
      else session.say(`${preview.headers.trimEnd()}\n\n${preview.text ?? preview.html ?? ''}`)
      return 0
    }
    return report(await sendEmail(client, { body, ...options }), session)
  },
}

async function sendFinished(parsed: Parsed, session: Session, options: { idempotencyKey?: string }): Promise<number> {
  const contrary = ['subject', 'text', 'html', 'cc', 'bcc', 'attach', 'reply-to', 'at', 'stream', 'dry-run']
  const found = contrary.find(name => parsed.values[name] !== undefined)
  if (found) throw new UsageError(`--${found} does not go with a finished message (.eml): its file has everything.`)
  const raw = (await read(required(parsed, 'file'))).toString('base64')
  const body = { from: required(parsed, 'from'), to: recipients(parsed), raw, ...tagsOf(parsed) }
  return report(await sendRawEmail(await session.client(), { body, ...options }), session)
}

function report(accepted: EmailAccepted, session: Session): number {
  if (session.json) session.data(accepted)
  else {
    const { id, status, recipients: all } = accepted
    session.say(`${status === 'scheduled' ? 'Scheduled' : 'Accepted'}: ${id}`)
    for (const { email, status: state } of all) session.say(`  ${email}: ${state}`)
    session.note(`See what becomes of it: postwright explain ${id}`)
  }
  for (const { message } of accepted.warnings) session.note(`Warning: ${message}`)
  return 0
}

async function messageOf(parsed: Parsed): Promise<EmailRequest> {
  const { at, stream } = { at: text(parsed, 'at'), stream: choice(parsed, 'stream', ['transactional', 'bulk']) }
  const attachments = await Promise.all(texts(parsed, 'attach').map(attachment))
  const [cc, bcc] = [texts(parsed, 'cc'), texts(parsed, 'bcc')]
  return {
    ...{ from: required(parsed, 'from'), to: recipients(parsed), subject: required(parsed, 'subject') },
    ...given(parsed, ['reply_to']),
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    ...(await bodyOf(parsed)),
    ...(attachments.length > 0 && { attachments }),
    ...tagsOf(parsed),
    ...(at !== undefined && { scheduled_at: at }),
    ...(stream !== undefined && { stream }),
  }
}

function recipients(parsed: Parsed): string[] {
  const to = texts(parsed, 'to')
  if (to.length === 0) throw new UsageError('The option --to is missing.')
  return to
}

/** Text and HTML of the message. */
async function bodyOf(parsed: Parsed): Promise<{ text?: string; html?: string }> {
  const path = text(parsed, 'file')
  const options = given(parsed, ['text', 'html'])
  if (path === undefined && Object.keys(options).length === 0) return { text: await textOfStdin() }
  const field = path !== undefined && /\.html?$/i.test(path) ? 'html' : 'text'
  if (path !== undefined && options[field] !== undefined)
    throw new UsageError(`--file and --${field} are both the ${field} of the message; give one of them.`)
  if (options.text === '-' && options.html === '-')
    throw new UsageError('Only one of --text and --html can read stdin.')
  const body: { text?: string; html?: string } = path === undefined ? {} : { [field]: (await read(path)).toString() }
  for (const name of ['text', 'html'] as const) {
    const value = options[name]
    if (value !== undefined) body[name] = value === '-' ? await readStdin() : value
  }
  return body
}

function textOfStdin(): Promise<string> {
  if (process.stdin.isTTY)
    throw new UsageError('The body is missing: give --text, --html or --file, or write it to stdin.')
  return readStdin()
}

function tagsOf(parsed: Parsed): Pick<EmailRequest, 'tags'> {
  const tags = texts(parsed, 'tag').map(tag => {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(tag) ?? []
    if (name === '') throw new UsageError(`--tag must be NAME=VALUE; it is "${tag}".`)
    return { name, value }
  })
  return tags.length > 0 ? { tags } : {}
}

/** Types that the extension of a file names; others are sent as bytes. */
const TYPES: Readonly<Record<string, string>> = {
  ...{
    '.pdf': 'application/pdf',
    '.png': 'image/png',
    '.jpg': 'image/jpeg',
    '.jpeg': 'image/jpeg',
    '.gif': 'image/gif',
  },
  ...{ '.txt': 'text/plain', '.csv': 'text/csv', '.html': 'text/html', '.json': 'application/json' },
  ...{ '.ics': 'text/calendar', '.zip': 'application/zip' },
}

async function attachment(path: string) {
  const type = TYPES[extname(path).toLowerCase()]
  const content = (await read(path)).toString('base64')
  return { filename: basename(path), content, ...(type !== undefined && { content_type: type }) }
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}.`)
  }
}
