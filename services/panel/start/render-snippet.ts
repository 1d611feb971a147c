/**
 * Fills in the placeholders of the snippets in `snippets/`: the one text that the panel, docs/quickstarts and the tests read.
 * `{{from}}` becomes a literal of the file's language, `{{from:raw}}` the value itself, `{{from:json}}` a JSON string inside
 * the single quotes of a shell.
 */

/** What differs between readers. */
export interface SnippetValues {
  /** Host of the SMTP service. */
  host: string
  /** Port with STARTTLS. */
  port: number
  user: string
  password: string
  /** Value of an API token. */
  token: string
  from: string
  to: string
  /** Public URL of the service, without a trailing slash. */
  apiUrl: string
  /** Public URL of the API in the format of Resend; not known to the panel. */
  resendUrl?: string
}

/** Values of the documents. */
export const EXAMPLE_VALUES: SnippetValues = {
  host: 'mail.example.com',
  port: 587,
  user: 'web1',
  password: 'the-password',
  token: 'pw_live_…',
  from: 'hello@example.com',
  to: 'you@example.net',
  apiUrl: 'https://postwright.example.com',
  resendUrl: 'https://resend.example.com',
}

const PLACEHOLDER = /\{\{(\w+)(?::(\w+))?\}\}/g

/** Throws for an unknown placeholder, and for a value with a line break, which no snippet can hold. */
export function renderSnippet(file: string, text: string, given: SnippetValues): string {
  const values: Record<string, string | undefined> = {
    ...given,
    port: String(given.port),
    server: `${given.host}:${given.port}`,
    smtpUrl: `smtp://${given.host}:${given.port}`,
    login: `${given.user}:${given.password}`,
    sendUrl: `${given.apiUrl}/api/send`,
    bearer: `Bearer ${given.token}`,
    authorization: `Authorization: Bearer ${given.token}`,
  }
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string, form?: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) throw new Error(`${file} has the unknown placeholder ${placeholder}`)
    if (/[\r\n]/.test(value)) throw new Error(`the value of ${name} has a line break`)
    return quotingOf(file, form)(value)
  })
}

type Quote = (value: string) => string

/** For a POSIX shell: in single quotes, each quote inside as `'\''`. */
const shell: Quote = value => `'${withinShell(value)}'`
const withinShell: Quote = value => value.replaceAll("'", `'\\''`)
/** Single quotes in which only the quote and the backslash have a meaning. */
const single: Quote = value => `'${value.replaceAll(/[\\']/g, '\\$&')}'`
/** Literal in single quotes where the value has none; double quotes would replace `$NAME`. */
const dotenv: Quote = value => (value.includes("'") ? `"${value.replaceAll(/[\\"$]/g, '\\$&')}"` : `'${value}'`)
const raw: Quote = value => value

const FORMS: Record<string, Quote> = { raw, json: value => withinShell(JSON.stringify(value)) }
const LANGUAGES: Record<string, Quote> = { sh: shell, php: single, rb: single, env: dotenv }

/** Strings of JSON are literals of the other languages as well: JavaScript, Python, Go, Java, C#, Rust, YAML. */
function quotingOf(file: string, form: string | undefined): Quote {
  if (form !== undefined) {
    const quote = Object.hasOwn(FORMS, form) ? FORMS[form] : undefined
    if (!quote) throw new Error(`${file} asks for the unknown form ${form}`)
    return quote
  }
  return LANGUAGES[file.slice(file.lastIndexOf('.') + 1)] ?? JSON.stringify
}
