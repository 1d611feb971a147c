import { expect, test } from 'vitest'
import { welcomeText } from './welcome.ts'

const text = welcomeText({
  panelUrl: 'http://127.0.0.1:3025',
  admin: { username: 'admin', password: 'Adm1n' },
  smtp: { host: '127.0.0.1', port: 2525, username: 'demo', password: 'D3mo' },
  token: 'pw_live_key_secret',
  domain: 'sandbox.localhost.localdomain',
})

test('the curl line is one line whose body is the JSON of a message from the sandbox domain', () => {
  const line = text.split('\n').find(candidate => candidate.trim().startsWith('curl ')) ?? ''
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
  const line = text.split('\n').find(candidate => candidate.trim().startsWith('swaks ')) ?? ''
  expect(line).toMatch(
    /--server 127\.0\.0\.1 --port 2525 --tls --auth PLAIN --auth-user demo --auth-password D3mo --from hello@sandbox\.localhost\.localdomain --to you@example\.com/,
  )
})

test('every login is shown, and the way back in', () => {
  for (const part of ['admin / Adm1n', 'demo / D3mo', 'pw_live_key_secret', 'reset-password admin'])
    expect(text).toContain(part)
})
