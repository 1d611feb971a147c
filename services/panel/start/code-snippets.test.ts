/** Executes the examples by a shell, Node and, if it is installed, Python. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { program } from '../../../test/support/programs/programs.ts'
import { type Snippet, type SnippetValues, snippet } from './code-snippets.ts'

const run = promisify(execFile)

const facts = (change: Partial<SnippetValues> = {}): SnippetValues => ({
  baseUrl: 'http://127.0.0.1:9',
  from: 'hello@example.com',
  to: 'you@example.org',
  token: 'pw_live_a_b',
  smtp: { host: 'mail.example.com', port: 2587, username: 'shop', password: 'secret' },
  ...change,
})

interface ReceivedRequest {
  url: string | undefined
  authorization: string | undefined
  body: unknown
}

/** A server that responds like the send API and records requests. */
async function listen(): Promise<{ baseUrl: string; heard: ReceivedRequest[] }> {
  const heard: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', part => {
      text += part
    })
    request.on('end', () => {
      heard.push({ url: request.url, authorization: request.headers.authorization, body: JSON.parse(text) })
      response.writeHead(202, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

const commands: [Snippet, (text: string) => Promise<unknown>][] = [
  ['curl', async text => program('curl') && run('sh', ['-c', text])],
  ['node', text => run(process.execPath, ['--input-type=module', '-e', text])],
  ['python', async text => run(program('python3'), ['-c', text])],
]

test.each(commands)('the %s example sends exactly one message', async (kind, execute) => {
  const { baseUrl, heard } = await listen()
  await execute(snippet(kind, facts({ baseUrl })))
  expect(heard).toEqual([
    {
      url: '/api/send',
      authorization: 'Bearer pw_live_a_b',
      body: {
        from: 'hello@example.com',
        to: 'you@example.org',
        subject: 'Hello from Postwright',
        text: 'It works.',
      },
    },
  ])
})

test.each([
  `o'brien@example.com`,
  '"quoted part"@example.com',
  '$(touch x)@example.com',
  '`id`@example.com',
  '你好@例子.测试',
])('the address %s is quoted correctly in each example', async from => {
  for (const [kind, execute] of commands) {
    const { baseUrl, heard } = await listen()
    await execute(snippet(kind, facts({ baseUrl, from })))
    expect([kind, heard[0]?.body]).toMatchObject([kind, { from }])
  }
})

test('the SMTP example names server, login and both addresses, quoted for the shell', async () => {
  const text = snippet(
    'smtp',
    facts({ smtp: { host: 'mail.example.com', port: 2587, username: "o'b", password: '$x' } }),
  )
  // The arguments as split by the shell.
  const { stdout } = await run('sh', ['-c', `swaks() { printf '%s\\n' "$@"; }; ${text}`])
  expect(stdout.trim().split('\n')).toEqual([
    '--server',
    'mail.example.com:2587',
    '--tls',
    '--auth-user',
    "o'b",
    '--auth-password',
    '$x',
    '--from',
    'hello@example.com',
    '--to',
    'you@example.org',
    '--header',
    'Subject: Hello from Postwright',
    '--body',
    'It works.',
  ])
})
