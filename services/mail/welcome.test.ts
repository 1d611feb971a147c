import { describe, expect, test } from 'vitest'
import { type Outlet, welcomeText } from './welcome.ts'

const textIn = (outlet: Outlet) =>
  welcomeText({
    panelUrl: 'http://127.0.0.1:3025',
    admin: { username: 'admin', password: 'Adm1n' },
    smtp: { host: '127.0.0.1', port: 2525, username: 'demo', password: 'D3mo' },
    token: 'pw_live_key_secret',
    compatUrl: 'http://127.0.0.1:3027',
    outlet,
  })
const OUTLETS: Outlet[] = [
  { mode: 'capture', domain: 'sandbox.localhost.localdomain' },
  { mode: 'direct', hostname: 'mail.example.net' },
  { mode: 'relay', relay: 'smart.example.net:587' },
]
const [capture, ...delivering] = OUTLETS as [Outlet, ...Outlet[]]
const lineOf = (program: string, outlet: Outlet) =>
  textIn(outlet)
    .split('\n')
    .find(candidate => candidate.trim().startsWith(`${program} `)) ?? ''

test('the curl line is one line whose body is the JSON of a message from the sandbox domain', () => {
  const line = lineOf('curl', capture)
  const body = /-d '([^']+)'/.exec(line)?.[1] ?? ''
  expect(JSON.parse(body)).toEqual({
    from: 'hello@sandbox.localhost.localdomain',
    to: 'you@example.com',
    subject: 'The first message',
    text: 'It works.',
  })
  expect(line.trim()).toMatch(
    /^curl -H 'Authorization: Bearer pw_live_key_secret' .* http:\/\/127\.0\.0\.1:3025\/api\/send$/,
  )
})

test('the swaks line names host, port, login and both addresses', () => {
  expect(lineOf('swaks', capture)).toMatch(
    /--server 127\.0\.0\.1 --port 2525 --tls --auth PLAIN --auth-user demo --auth-password D3mo --from hello@sandbox\.localhost\.localdomain --to you@example\.com/,
  )
})

describe.each(OUTLETS.map(outlet => [outlet.mode, outlet] as const))('in DELIVERY_MODE=%s', (_, outlet) => {
  test('every login is shown, and the way back in', () => {
    for (const part of [
      'admin / Adm1n',
      'demo / D3mo',
      'pw_live_key_secret',
      'RESEND_BASE_URL=http://127.0.0.1:3027 ',
      'reset-password admin',
    ])
      expect(textIn(outlet)).toContain(part)
  })
})

test.each(delivering.map(outlet => [outlet.mode, outlet] as const))(
  'in DELIVERY_MODE=%s no line promises that mail stays here or sends from a domain that cannot',
  (mode, outlet) => {
    const text = textIn(outlet)
    expect(text).toContain(`DELIVERY_MODE is ${mode}`)
    expect(text).toContain('http://127.0.0.1:3025/domains')
    expect(text).not.toMatch(/nothing leaves|inbox|sandbox/i)
    for (const program of ['curl', 'swaks']) expect(lineOf(program, outlet)).toContain('hello@YOUR-DOMAIN')
  },
)
