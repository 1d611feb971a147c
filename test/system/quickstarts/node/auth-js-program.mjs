/** Requests a sign-in link for the address, reads the link from standard input and follows it. */
import { text } from 'node:stream/consumers'
import { Auth, skipCSRFCheck } from '@auth/core'
import { email } from './auth-js.mjs'

const users = new Map()
const tokens = new Map()
/** The part of a database that signing in with a link needs. */
const adapter = {
  createUser: user => {
    users.set(user.email, { ...user, id: '1' })
    return users.get(user.email)
  },
  getUser: () => [...users.values()][0] ?? null,
  getUserByEmail: address => users.get(address) ?? null,
  getUserByAccount: () => null,
  updateUser: user => ({ ...[...users.values()][0], ...user }),
  linkAccount: () => undefined,
  createSession: session => session,
  getSessionAndUser: () => null,
  updateSession: () => null,
  deleteSession: () => undefined,
  createVerificationToken: token => {
    tokens.set(token.token, token)
    return token
  },
  useVerificationToken: ({ token }) => tokens.get(token) ?? null,
}
const config = {
  adapter,
  providers: [email],
  secret: 's'.repeat(32),
  trustHost: true,
  basePath: '/auth',
  skipCSRFCheck,
}

const body = new URLSearchParams({ email: process.argv[2] })
const asked = await Auth(
  new Request('http://127.0.0.1:3000/auth/signin/nodemailer', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  config,
)
if (asked.headers.get('location')?.includes('error')) throw new Error(asked.headers.get('location'))
const response = await Auth(new Request((await text(process.stdin)).trim()), config)
process.stdout.write(response.headers.get('set-cookie') ?? String(response.status))
