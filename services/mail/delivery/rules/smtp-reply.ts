/** Replies of SMTP servers (RFC 5321 section 4.2, enhanced codes RFC 3463), and the record of a conversation. */
import { inEnglish, type Sentence } from '../../../platform/sentences/sentence.ts'

/** One complete reply. `text` joins the lines without their codes. */
export interface Reply {
  code: number
  enhanced?: string
  text: string
  /** Only of {@link ownReply}: its text as code and parameters. */
  explanation?: Sentence
}

/** A reply as the server sent it: `lines` without codes, for keywords of EHLO. */
export interface ServerReply extends Reply {
  lines: readonly string[]
}

/** Longest text of a reply that is kept, in characters. */
const TEXT_MAX = 1_000
/** Longest record of a conversation, in characters; far more than a normal one needs. */
const CONVERSATION_MAX = 4_000

/** Control characters except tabs, which servers do send. */
const CONTROL = /[^\P{Cc}\t]/u

/** Reads the lines of one reply, the last of which has a space (or nothing) after its code; undefined when they are no reply. */
export function parseReply(lines: readonly string[]): ServerReply | undefined {
  const code = Number(/^([2-5]\d\d)(?:[ -]|$)/.exec(lines.at(-1) ?? '')?.[1])
  if (!code || lines.some(line => !line.startsWith(String(code)))) return undefined
  const texts = lines.map(line => withoutControls(line.slice(4)))
  const first = texts.map(text => /^([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/.exec(text)?.[1])
  const enhanced = first.find(found => found !== undefined)
  const text = texts
    .map((line, index) => (first[index] === undefined ? line : line.slice(first[index].length).trimStart()))
    .join(' ')
    .slice(0, TEXT_MAX)
  return enhanced === undefined ? { code, text, lines: texts } : { code, enhanced, text, lines: texts }
}

/** A reply of ours in the place of the server's, for a message that it could not take. */
export function ownReply(code: number, enhanced: string, given: Sentence): Reply {
  return { code, enhanced, text: inEnglish(given), explanation: given }
}

/** A reply as one line for people: `550 5.1.1 No such user`. */
export function showReply({ code, enhanced, text }: Reply): string {
  return [code, enhanced, text].filter(part => part !== undefined && part !== '').join(' ')
}

function withoutControls(text: string): string {
  return CONTROL.test(text) ? text.replaceAll(new RegExp(CONTROL, 'gu'), ' ') : text
}

/** Records the conversation of a connection, without secrets and bounded. */
export class Conversation {
  readonly #lines: string[] = []
  #room = CONVERSATION_MAX

  /** A command of ours. Everything after AUTH and its mechanism is removed; for a secret line, pass `secret`. */
  sent(line: string, secret = false): void {
    this.#add(
      'C: ',
      secret ? '[secret]' : line.startsWith('AUTH') ? line.replace(/^(AUTH \S+) .*/s, '$1 [secret]') : line,
    )
  }

  /** A line of the server. */
  received(line: string): void {
    this.#add('S: ', withoutControls(line))
  }

  /** Something that happened: TLS, a timeout. */
  note(text: string): void {
    this.#add('-- ', text)
  }

  /** The complete text; a cut is marked in the last line. */
  toString(): string {
    return this.#lines.join('\n')
  }

  #add(mark: string, line: string): void {
    if (this.#room <= 0) return
    const length = mark.length + line.length + 1
    this.#lines.push(length > this.#room ? '-- cut here' : mark + line)
    this.#room = length > this.#room ? 0 : this.#room - length
  }
}
