/** A real OpenID Connect provider on this machine (oidc-provider), whose page asks who logs in. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** A person of the provider: claims by name, `sub` included. */
export interface Person {
  sub: string
  email?: string
  email_verified?: boolean
  preferred_username?: string
  groups?: readonly string[]
}

/** The provider. */
export interface LoginProvider {
  issuer: string
  clientId: string
  clientSecret: string
  /** Who logs in with the button; changed by tests. */
  person: Person
  /** Requests by path so far. */
  requests: string[]
  stop(): Promise<void>
}

const CLIENT = { id: 'postwright', secret: randomBytes(24).toString('base64url') }
const PAGE = `<!doctype html><title>Provider</title><h1>Provider</h1>
<form method="post"><button name="answer" value="login">Log in here</button>
<button name="answer" value="deny">Deny</button></form>`

/** Starts a provider with one client, which may come back to this address. */
export async function startLoginProvider(redirectUri: string): Promise<LoginProvider> {
  const requests: string[] = []
  const state: { handle?: (request: IncomingMessage, response: ServerResponse) => unknown } = {}
  const server = createServer((request, response) => {
    requests.push((request.url ?? '').split('?')[0] ?? '')
    void state.handle?.(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const found = new Map<string, Person>()
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
      },
    ],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/page/${uid}` },
    findAccount: (_, sub) => {
      const person = found.get(sub)
      return person && { accountId: sub, claims: () => ({ ...person }) }
    },
    async loadExistingGrant({ oidc }) {
      const { client, session } = oidc
      if (!client || !session?.accountId) return undefined
      const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const callback = provider.callback()
  const started: LoginProvider = {
    ...{ issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, requests },
    person: { sub: 'nobody' },
    stop: () => closed(server),
  }
  state.handle = async (request, response) => {
    if (!request.url?.startsWith('/page/')) return callback(request, response)
    if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(PAGE)
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { person } = started
    found.set(person.sub, person)
    const result = body.includes('deny')
      ? { error: 'access_denied' }
      : { login: { accountId: person.sub, remember: false } }
    return provider.interactionFinished(request, response, result)
  }
  return started
}

function closed(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/**
 * What a browser does with the address of a login: logs in (or denies) on the provider's page and follows its redirects.
 * Resolves to the address outside of the provider that it ends at.
 */
export async function logInAtProvider(url: string, answer: 'login' | 'deny' = 'login'): Promise<URL> {
  const { origin } = new URL(url)
  const load = withCookies()
  let at = new URL(url)
  for (let step = 0; step < 10; step++) {
    if (at.origin !== origin) return at
    let response = await load(at)
    if (response.status === 200) response = await load(at, `answer=${answer}`)
    const location = response.headers.get('location')
    if (location === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`)
    at = new URL(location, at)
  }
  throw new Error('the provider redirects in a circle')
}

/** Loads pages, or posts forms, and keeps their cookies. */
function withCookies() {
  const cookies = new Map<string, string>()
  return async (at: URL, form?: string) => {
    const response = await fetch(at, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(pair => pair.join('=')).join('; '),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form ?? null,
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
}
