/** Every quickstart that can run here, from the very text of panel and documents: its message arrives at `npm start`. */
import { execFile, spawn } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { SNIPPETS } from '../../../scripts/embed-snippets.ts'
import { renderSnippet, type SnippetValues } from '../../../services/panel/start/render-snippet.ts'
import { builtPanel } from '../../panel/support/built-panel.ts'
import { startNullClient } from '../../support/mail/postfix.ts'
import { type Postwright, startPostwright, trialSettings } from '../../support/processes/postwright-process.ts'
import { compiler, program } from '../../support/programs/programs.ts'
import { findPythonTools } from '../../support/programs/python-tools.ts'
import { buildWithCargo, javaLibraries, nodeProject } from '../../support/programs/quickstart-programs.ts'
import { until } from '../../support/time/until.ts'

const execute = promisify(execFile)
const DOMAIN = 'sandbox.localhost.localdomain'

let dataDir: string
let certificate: string
let postwright: Postwright
let values: SnippetValues
let startedAt: number

beforeAll(async () => {
  await builtPanel()
  dataDir = await mkdtemp(join(tmpdir(), 'pw-quickstarts-'))
  certificate = join(dataDir, 'tls.crt')
  startedAt = performance.now()
  const settings: Record<string, string> = { ...(await trialSettings(dataDir)), API_REQUESTS_PER_MINUTE: '0' }
  postwright = startPostwright(settings)
  await postwright.printed('"msg":"ready"')
  await postwright.printed('These logins are shown this once')
  const printed = (pattern: RegExp) => pattern.exec(postwright.output())?.[1] ?? ''
  values = {
    host: 'localhost',
    port: Number(settings.SUBMISSION_LISTEN?.split(':')[0]),
    user: 'demo',
    password: printed(/STARTTLS\), demo \/ (\S+)/),
    token: printed(/token {3}(\S+)/),
    from: `hello@${DOMAIN}`,
    to: '',
    apiUrl: `http://127.0.0.1:${settings.APP_PORT}`,
    resendUrl: `http://127.0.0.1:${settings.COMPAT_PORT}`,
  }
  const seconds = (performance.now() - startedAt) / 1000
  process.stderr.write(`quickstarts: npm start was ready after ${seconds.toFixed(1)} s\n`)
}, 400_000)
afterAll(async () => {
  if (postwright?.process.exitCode === null) await postwright.end('SIGTERM')
  if (dataDir) await rm(dataDir, { recursive: true, force: true })
})

/** A folder of one test, and the snippets with its recipient. */
interface Here {
  folder: string
  to: string
  text(file: string): Promise<string>
  /** Writes a snippet into the folder, with further text before or after it; resolves to its path. */
  write(file: string, frame?: { before?: string; after?: string; name?: string }): Promise<string>
}

async function openFolder(snippet: string): Promise<Here> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-quickstart-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const to = `${snippet.replaceAll('.', '-')}@example.net`.toLowerCase()
  const text = async (file: string) =>
    renderSnippet(file, await readFile(join(SNIPPETS, file), 'utf8'), { ...values, to })
  return {
    folder,
    to,
    text,
    async write(file, { before = '', after = '', name = file } = {}) {
      await writeFile(join(folder, name), `${before}${await text(file)}${after}`)
      return join(folder, name)
    },
  }
}

/** Runs a program in the folder; it trusts the certificate of `npm start` as the documents say. */
async function run(here: Here, path: string, args: readonly string[], env: Record<string, string> = {}) {
  const trust = { NODE_EXTRA_CA_CERTS: certificate, SSL_CERT_FILE: certificate }
  const { stdout } = await execute(path, args, { cwd: here.folder, env: { ...process.env, ...trust, ...env } })
  return stdout
}

async function node(here: Here, file: string, env: Record<string, string> = {}): Promise<string> {
  await here.write(file)
  await symlink(join(await nodeProject(), 'node_modules'), join(here.folder, 'node_modules'))
  return run(here, process.execPath, [file], env)
}

/** Debian has no Composer: its package loads itself. */
const PHPMAILER = '/usr/share/php/libphp-phpmailer/autoload.php'
const php = (here: Here, file: string) => run(here, program('php'), ['-d', `openssl.cafile=${certificate}`, file])

const runners: Record<string, (here: Here) => Promise<unknown>> = {
  'curl.sh': async here => run(here, 'sh', [await here.write('curl.sh'), program('curl')]),
  'curl-smtp.sh': async here =>
    run(here, 'sh', [await here.write('curl-smtp.sh'), program('curl')], { CURL_CA_BUNDLE: certificate }),
  'swaks.sh': async here => run(here, 'sh', [await here.write('swaks.sh'), program('swaks')]),
  'node-fetch.mjs': here => node(here, 'node-fetch.mjs'),
  'node-nodemailer.mjs': here => node(here, 'node-nodemailer.mjs'),
  'node-resend.mjs': here => node(here, 'node-resend.mjs'),
  'python-smtplib.py': async here => run(here, program('python3'), [await here.write('python-smtplib.py')]),
  'django-send.py': async here => {
    const tools = await findPythonTools('sdks')
    await here.write('django-settings.py', { before: 'SECRET_KEY = "x"\n', name: 'settings.py' })
    const path = await here.write('django-send.py', { before: 'import django\ndjango.setup()\n' })
    const env = { DJANGO_SETTINGS_MODULE: 'settings', PYTHONPATH: here.folder, SSL_CERT_FILE: certificate }
    return tools.run([path], { cwd: here.folder, env })
  },
  'go-smtp.go': async here => {
    return run(here, await compiler('go'), ['run', await here.write('go-smtp.go')])
  },
  'php-phpmailer.php': async here => {
    await mkdir(join(here.folder, 'vendor'))
    await symlink(PHPMAILER, join(here.folder, 'vendor/autoload.php'))
    return php(here, await here.write('php-phpmailer.php'))
  },
  'wordpress.php': async here => {
    // What WordPress does around them: it collects the callbacks and applies them to its PHPMailer.
    const hooks = `<?php\n$hooks = [];\nfunction add_action($n, $f) { $GLOBALS['hooks'][$n] = $f; }\nfunction add_filter($n, $f) { add_action($n, $f); }\n`
    const mail = `require '${PHPMAILER}'; require 'wordpress.php';\n$mail = new PHPMailer\\PHPMailer\\PHPMailer(true);\n$mail->setFrom($hooks['wp_mail_from']());\n$mail->addAddress('${here.to}');\n$mail->Subject = 'Hello from Postwright';\n$mail->Body = 'It works.';\n$hooks['phpmailer_init']($mail);\n$mail->send();\n`
    await here.write('wordpress.php')
    await writeFile(join(here.folder, 'site.php'), hooks + mail)
    return php(here, 'site.php')
  },
  'Quickstart.java': async here => {
    const libraries = await javaLibraries()
    const store = join(here.folder, 'trust.p12')
    const trust = ['-keystore', store, '-storepass', 'changeit', '-file', certificate, '-alias', 'postwright']
    await run(here, 'keytool', ['-importcert', '-noprompt', ...trust])
    const settings = [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=changeit']
    return run(here, 'java', [...settings, '-cp', join(libraries, '*'), await here.write('Quickstart.java')])
  },
  'ruby-net-smtp.rb': async here => run(here, program('ruby'), [await here.write('ruby-net-smtp.rb')]),
  'rails.rb': async here => {
    // Rails gives these settings to the library Mail.
    const before = `require 'mail'\nrequire 'ostruct'\nconfig = OpenStruct.new(action_mailer: OpenStruct.new)\n`
    const after = `settings = config.action_mailer\nMail.new(from: settings.default_options[:from], to: '${here.to}', subject: 'Hello from Postwright', body: 'It works.').tap { |mail| mail.delivery_method(settings.delivery_method, settings.smtp_settings) }.deliver\n`
    return run(here, program('ruby'), [await here.write('rails.rb', { before, after })])
  },
  'rust-lettre.rs': async here => {
    const path = await buildWithCargo(
      here.folder,
      await here.text('rust-lettre.rs'),
      await here.text('rust-lettre.toml'),
    )
    return run(here, path, [])
  },
  'postfix-main.cf': async here => {
    const settings = (await here.text('postfix-main.cf')).replace('/etc/ssl/certs/ca-certificates.crt', certificate)
    const postfix = await startNullClient(settings, await here.text('postfix-sasl_passwd.cf'))
    onTestFinished(() => postfix.stop())
    const mail = `From: ${values.from}\nTo: ${here.to}\nSubject: Hello from Postwright\n\nIt works.\n`
    return postfix.sendmail(['-i', '-f', values.from, here.to], mail)
  },
  'msmtp.sh': async here => {
    const settings = await here.text('msmtprc.conf')
    const path = join(here.folder, '.msmtprc')
    const text = settings.replace('/etc/ssl/certs/ca-certificates.crt', certificate)
    await writeFile(path, text, { mode: 0o600 })
    return run(here, 'sh', [await here.write('msmtp.sh'), program('msmtp')], { HOME: here.folder })
  },
}

/** A message in the inbox of capture mode. */
interface Captured {
  id: string
  from: string
  to: string[]
  subject: string
}

const ask = (path: string) =>
  fetch(`${values.apiUrl}/api/v1/${path}`, { headers: { authorization: `Bearer ${values.token}` } })

/** Resolves to the message for this address once it is in the inbox. */
async function arrived(to: string): Promise<Captured> {
  let found: Captured | undefined
  await until(
    async () => {
      const { data } = (await (await ask('inbox?limit=100')).json()) as { data: Captured[] }
      found = data.find(mail => mail.to.includes(to))
      return found !== undefined
    },
    90_000,
    250,
  )
  if (!found) throw new Error('no message')
  return found
}

const rawOf = async (mail: Captured) => (await ask(`inbox/${mail.id}/raw`)).text()

// The first run fetches packages and compiles crates.
test.each(Object.keys(runners))('quickstart %s', { timeout: 600_000 }, async snippet => {
  const here = await openFolder(snippet)
  const started = performance.now()
  await runners[snippet]?.(here)
  const mail = await arrived(here.to)
  process.stderr.write(`quickstart ${snippet}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`)
  expect(mail).toMatchObject({ from: values.from, to: [here.to], subject: 'Hello from Postwright' })
  const raw = await rawOf(mail)
  expect(raw).toContain('\r\n\r\nIt works.')
  expect(raw).toMatch(/^DKIM-Signature: /m)
})

test.each(['better-auth', 'auth-js'])('quickstart %s.mjs: the link of the message signs in', async name => {
  const here = await openFolder(name)
  await here.write(`${name}.mjs`)
  const project = await nodeProject()
  await symlink(join(project, 'node_modules'), join(here.folder, 'node_modules'))
  const file = `${name}-program.mjs`
  await copyFile(join(import.meta.dirname, 'node', file), join(here.folder, file))
  const env = { BETTER_AUTH_SECRET: 's'.repeat(32), BETTER_AUTH_URL: 'http://127.0.0.1:3000' }
  const child = spawn(process.execPath, [file, here.to], {
    cwd: here.folder,
    env: { ...process.env, ...env, NODE_EXTRA_CA_CERTS: certificate },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stderr.on('data', chunk => {
    errors += chunk
  })
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  const mail = await Promise.race([arrived(here.to), ended.then(() => Promise.reject(new Error(errors)))])
  // Quoted-printable may break the link.
  const text = (await rawOf(mail)).replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const link = /http:\/\/127\.0\.0\.1:3000\/\S+/.exec(text)?.[0] ?? ''
  child.stdin.end(link)
  expect([await ended, errors.match(/error.*/i)?.[0]]).toEqual([0, undefined])
  expect(output).toMatch(/session[-_]token=[^;]{20}/)
})
