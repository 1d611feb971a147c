/** What a command works with: the client, and its output. */

import { VERSION } from '../generated/version.ts'
import { type Client, createClient } from '../runtime/client.ts'
import { readLogin } from './config.ts'
import { printable, printableJson } from './printable.ts'

/** Client and output of one command. */
export interface Session {
  json: boolean
  /** The client of the environment or of the login; throws where there is none. */
  client(): Promise<Client>
  /** A client of this address and token. */
  clientOf(login: { url: string; token: string }): Client
  /** Prints text for people; control characters in it are replaced. */
  say(text: string): void
  /** Prints one JSON object; control characters in its texts are escapes. */
  data(value: unknown): void
  /** Prints one JSON object as one line. */
  line(value: unknown): void
  /** Prints a remark that is no result, to stderr. */
  note(text: string): void
}

/** Starts a session; `lang` wins over the locale of the environment. */
export function openSession({ json, lang }: { json: boolean; lang: string | undefined }): Session {
  const language = lang ?? languageOf(process.env)
  const clientOf = ({ url, token }: { url: string; token: string }) =>
    createClient({ url, token, language, headers: { 'user-agent': `postwright-cli/${VERSION}` } })
  const note = (text: string) => void process.stderr.write(`${printable(text)}\n`)
  return {
    ...{ json, clientOf, note },
    client: async () => clientOf(await readLogin(process.env, note)),
    say: text => void process.stdout.write(`${printable(text)}\n`),
    data: value => void process.stdout.write(`${printableJson(value, 2)}\n`),
    line: value => void process.stdout.write(`${printableJson(value)}\n`),
  }
}

/** `zh_CN.UTF-8` is `zh-CN`; the locales C and POSIX name no language. */
function languageOf({ LC_ALL, LC_MESSAGES, LANG }: NodeJS.ProcessEnv): string | undefined {
  const [locale] = (LC_ALL || LC_MESSAGES || LANG || '').split(/[.@]/)
  return locale && /^[a-z]{2,3}(_[A-Z]{2})?$/.test(locale) ? locale.replace('_', '-') : undefined
}
