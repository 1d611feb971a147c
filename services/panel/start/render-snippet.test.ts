/** Executes snippets by a shell, Node, Python, PHP and Ruby with values that need quoting, and reads those that configure. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { smtpSecretData } from '../../../operator/reconcilers/mail/smtp-secret.ts'
import { program } from '../../../test/support/programs/programs.ts'
import { EXAMPLE_VALUES, renderSnippet, type SnippetValues } from './render-snippet.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, 'snippets')
const files = await readdir(FOLDER)

const VALUES: SnippetValues = {
  ...{ host: 'mail.example.com', port: 2587, user: 'shop', password: 'secret-1', token: 'pw_live_a_b' },
  ...{ from: 'hello@example.com', to: 'you@example.org' },
  ...{ apiUrl: 'http://127.0.0.1:9', resendUrl: 'http://127.0.0.1:8' },
}
const rendered = async (file: string, change: Partial<SnippetValues> = {}) =>
  renderSnippet(file, await readFile(join(FOLDER, file), 'utf8'), { ...VALUES, ...change })

test.each(files)('%s has only known placeholders and is part of a document', async file => {
  expect(await rendered(file)).not.toMatch(/\{\{\w|\}\}\w/)
  const pages = await Promise.all(
    (await readdir('docs/quickstarts')).map(name => readFile(join('docs/quickstarts', name), 'utf8')),
  )
  expect(pages.filter(page => page.includes(`<!-- snippet ${file} -->`))).toHaveLength(1)
})

/** Where a value of each kind has to be in files of settings. */
const SETTINGS = { host: VALUES.host, user: VALUES.user, password: VALUES.password, from: VALUES.from }
const lines = (text: string) =>
  Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [, name, value = ''] = /^(\w+) ?= ?(.*)$/.exec(line) ?? []
      return name ? [[name, value.replaceAll(/^(?:'|"{1,3})|(?:'|"{1,3})$/g, '')]] : []
    }),
  )

test.each<[string, (text: string) => unknown, object]>([
  [
    'spring-boot.yml',
    text => parse(text).spring.mail,
    { host: 'mail.example.com', port: 2587, username: 'shop', password: 'secret-1' },
  ],
  [
    'alertmanager.yml',
    text => parse(text).global,
    {
      smtp_smarthost: 'mail.example.com:2587',
      smtp_from: SETTINGS.from,
      smtp_auth_username: 'shop',
      smtp_auth_password: 'secret-1',
      smtp_require_tls: true,
    },
  ],
  ['keycloak.json', text => JSON.parse(text).smtpServer, { ...SETTINGS, port: '2587', starttls: 'true', auth: 'true' }],
  [
    'supabase.env',
    lines,
    { SMTP_HOST: 'mail.example.com', SMTP_PORT: '2587', SMTP_USER: 'shop', SMTP_PASS: 'secret-1' },
  ],
  [
    'laravel.env',
    lines,
    {
      MAIL_HOST: 'mail.example.com',
      MAIL_PORT: '2587',
      MAIL_USERNAME: 'shop',
      MAIL_PASSWORD: 'secret-1',
      MAIL_FROM_ADDRESS: SETTINGS.from,
    },
  ],
  [
    'grafana.ini',
    lines,
    { host: 'mail.example.com:2587', user: 'shop', password: 'secret-1', startTLS_policy: 'MandatoryStartTLS' },
  ],
])('%s has each value where it belongs', async (file, read, expected) => {
  expect(read(await rendered(file))).toMatchObject(expected)
})

test('the .NET program names each value once as a literal', async () => {
  const text = await rendered('dotnet-mailkit.cs')
  for (const literal of ['"mail.example.com", 2587', '"shop", "secret-1"', '"hello@example.com"', '"you@example.org"'])
    expect(text.split(literal)).toHaveLength(2)
})

test('the pod of Kubernetes reads keys that the Secret of the login has', async () => {
  const secret = smtpSecretData({ host: VALUES.host }, VALUES.user, VALUES.password)
  const [login, deployment] = parseAllDocuments(await rendered('kubernetes.yaml')).map(document => document.toJS())
  const references = deployment.spec.template.spec.containers[0].env.flatMap(
    (entry: { valueFrom?: { secretKeyRef: { name: string; key: string } } }) => entry.valueFrom?.secretKeyRef ?? [],
  )
  expect(new Set(references.map(({ name }: { name: string }) => name))).toEqual(new Set([login.spec.secret.name]))
  for (const { key } of references) expect(secret).toHaveProperty(key)
})

interface ReceivedRequest {
  authorization: string | undefined
  body: unknown
}

/** A server that responds like the send API and records requests. */
async function listen(): Promise<{ apiUrl: string; heard: ReceivedRequest[] }> {
  const heard: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', part => {
      text += part
    })
    request.on('end', () => {
      heard.push({ authorization: request.headers.authorization, body: JSON.parse(text) })
      response.writeHead(202, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return { apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

const ODD = [
  `o'brien@example.com`,
  '"quoted part"@example.com',
  '$(touch x)@example.com',
  '`id`@example.com',
  '#{1}\\@例子.测试',
]

/** Programs that print a literal of their language. */
const printers: [string, (literal: string) => Promise<{ stdout: string }>][] = [
  ['sh', literal => run('sh', ['-c', `printf %s ${literal}`])],
  ['mjs', literal => run(process.execPath, ['-e', `process.stdout.write(${literal})`])],
  ['py', literal => run(program('python3'), ['-c', `import sys; sys.stdout.buffer.write((${literal}).encode())`])],
  ['php', literal => run(program('php'), ['-r', `echo ${literal};`])],
  ['rb', literal => run(program('ruby'), ['-Ku', '-e', `print ${literal}`])],
]

test.each(printers)('a value is one literal in .%s, whatever it contains', async (language, print) => {
  for (const from of ODD) {
    const { stdout } = await print(renderSnippet(`x.${language}`, '{{from}}', { ...VALUES, from }))
    expect(stdout).toBe(from)
  }
})

test.each(ODD)('curl and fetch send the sender %s', async from => {
  const { apiUrl, heard } = await listen()
  program('curl')
  await run('sh', ['-c', await rendered('curl.sh', { apiUrl, from })])
  await run(process.execPath, ['--input-type=module', '-e', await rendered('node-fetch.mjs', { apiUrl, from })])
  const body = { from, to: VALUES.to, subject: 'Hello from Postwright', text: 'It works.' }
  expect(heard).toEqual([1, 2].map(() => ({ authorization: 'Bearer pw_live_a_b', body })))
})

/** A shell in which curl prints its arguments and its input. */
const printing = (script: string) => `curl() { printf '%s\\n' "$@"; cat; }\n${script}`

test.each(ODD)('curl over SMTP gets the login, the sender and the message of %s', async from => {
  const password = `a'b"$(id) %s`
  const { stdout } = await run('sh', ['-c', printing(await rendered('curl-smtp.sh', { from, password }))])
  expect(stdout.split('\n')).toEqual([
    ...['smtp://mail.example.com:2587', '--ssl-reqd', '--user', `shop:${password}`],
    ...['--mail-from', from, '--mail-rcpt', 'you@example.org', '--upload-file', '-'],
    ...[`From: ${from}\r`, 'To: you@example.org\r', 'Subject: Hello from Postwright\r', '\r', 'It works.\r', ''],
  ])
})

test('a password with quotes and dollars is one value in an environment file', () => {
  const render = (password: string) => renderSnippet('x.env', '{{password}}', { ...VALUES, password })
  expect(render('a$b"c')).toBe(`'a$b"c'`)
  expect(render(`a'$b"\\`)).toBe(`"a'\\$b\\"\\\\"`)
})

test.each<[string, Partial<SnippetValues>, string]>([
  ['{{nothing}}', {}, 'unknown placeholder {{nothing}}'],
  ['{{constructor}}', {}, 'unknown placeholder'],
  ['{{from:upper}}', {}, 'unknown form upper'],
  ['{{from:toString}}', {}, 'unknown form toString'],
  ['{{from}}', { from: 'a\nb' }, 'line break'],
])('refuses %s with %j', (text, change, message) => {
  expect(() => renderSnippet('x.sh', text, { ...EXAMPLE_VALUES, ...change })).toThrow(message)
})
