/** Settings of a client, and the value that every operation takes first. */

/** Where the API is, who calls it, and how requests are repeated. */
export interface ClientOptions {
  /** Address of the API, as in `https://mail.example.com`; a path is kept (`https://…/subscription-api`). */
  url: string
  /** API token, app credential or session token; a function is called before each attempt. */
  token?: string | (() => string | Promise<string>) | undefined
  /** Further attempts after the first one; 0 turns repeats off. Default 2. */
  retries?: number | undefined
  /** Longest wait before another attempt, in milliseconds: a longer `Retry-After` is an error at once. Default 30,000. */
  maxRetryWaitMs?: number | undefined
  /** Longest time of one attempt, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined
  /** Header fields of every request. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Language of messages where the API has several, as in `zh-CN`: the header Accept-Language. */
  language?: string | undefined
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined
}

/** A configured client. It holds no connection and needs no end. */
export interface Client {
  /** Without a slash at the end. */
  readonly url: string
  readonly token: () => string | undefined | Promise<string | undefined>
  readonly retries: number
  readonly maxRetryWaitMs: number
  readonly timeoutMs: number
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof fetch
}

/** Checks the settings and returns a client. Throws a TypeError for an address that is not `http` or `https`. */
export function createClient(options: ClientOptions): Client {
  const { token, language, retries = 2, maxRetryWaitMs = 30_000, timeoutMs = 60_000 } = options
  return {
    url: baseOf(options.url),
    token: typeof token === 'function' ? token : () => token,
    retries: atLeastZero('retries', retries),
    maxRetryWaitMs: atLeastZero('maxRetryWaitMs', maxRetryWaitMs),
    timeoutMs: atLeastZero('timeoutMs', timeoutMs),
    headers: { ...(language === undefined ? {} : { 'accept-language': language }), ...options.headers },
    // Called through an arrow: browsers refuse a fetch with another `this`.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  }
}

function baseOf(address: string): string {
  const parsed = URL.canParse(address) ? new URL(address) : undefined
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:')
    throw new TypeError(`url must be an address that begins with http:// or https://, not "${address}".`)
  if (parsed.username !== '' || parsed.password !== '') throw new TypeError('url must have no user name or password.')
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '')
}

function atLeastZero(name: string, value: number): number {
  if (value >= 0) return value
  throw new TypeError(`${name} must be a number of at least 0, not ${value}.`)
}
