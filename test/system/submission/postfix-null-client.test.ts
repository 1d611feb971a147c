/** The Postfix example of the documentation, verbatim, with a real Postfix: it sends cron mail and bounces. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { SNIPPETS } from '../../../scripts/embed-snippets.ts'
import type { CredentialDoc } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import { readBody } from '../../../services/mail/store/bodies.ts'
import type { MessageDoc } from '../../../services/mail/store/documents.ts'
import { EXAMPLE_VALUES, renderSnippet } from '../../../services/panel/start/render-snippet.ts'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { databaseForThisTest, type TestDatabase } from '../../support/database/test-database.ts'
import { type NullClient, startNullClient } from '../../support/mail/postfix.ts'
import { certificateFiles } from '../../support/mail/submission-listener.ts'
import { giveSendingAccount, startSubmission } from '../../support/mail/submission-service.ts'
import { until } from '../../support/time/until.ts'

/** The two files that docs/smtp.md and docs/quickstarts show: main.cf and sasl_passwd. */
const FILES = ['postfix-main.cf', 'postfix-sasl_passwd.cf']

let blocks: string[]
beforeAll(async () => {
  blocks = await Promise.all(
    FILES.map(async file => renderSnippet(file, await readFile(join(SNIPPETS, file), 'utf8'), EXAMPLE_VALUES)),
  )
})

test.each(['docs/smtp.md', 'docs/smtp.zh-CN.md', 'docs/quickstarts/postfix.md'])('%s shows these files', async path => {
  const text = (await readFile(path, 'utf8')).replaceAll(/^ +/gm, '')
  for (const block of blocks) expect(text).toContain(block)
})

interface Server {
  mongo: TestDatabase
  postfix: NullClient
  domain: string
}

/** A server as documented, whose login has these changes. */
async function startServer(change: (domain: string) => Partial<CredentialDoc>): Promise<Server> {
  const mongo = await databaseForThisTest()
  const files = await certificateFiles()
  const service = await startSubmission(mongo, { SUBMISSION_TLS_CERT: files.cert, SUBMISSION_TLS_KEY: files.key })
  const name = 'null-client.example'
  const { credential } = await giveSendingAccount(mongo, change(name), { name })
  const [mainCf = '', passwords = ''] = blocks
  const here = (text: string) => text.replaceAll('[mail.example.com]:587', `[localhost]:${service.starttls}`)
  const postfix = await startNullClient(
    here(mainCf).replace('/etc/ssl/certs/ca-certificates.crt', files.cert),
    here(passwords).replace('web1:the-password', `${credential.username}:${PASSWORD}`),
  )
  onTestFinished(() => postfix.stop())
  return { mongo, postfix, domain: name }
}

/** Waits until a message whose subject begins with this text was accepted. */
async function accepted({ mongo, postfix }: Server, subject: string): Promise<{ message: MessageDoc; raw: string }> {
  const find = () => mongo.db.collection<MessageDoc>('messages').findOne({ subject: { $regex: `^${subject}` } })
  await until(async () => (await find()) !== null, 60_000).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${await postfix.describe()}`)
  })
  const message = await find()
  if (!message) throw new Error('no message')
  return { message, raw: (await readBody(mongo, message._id, message.parts))?.toString() ?? '' }
}

const CRON = 'From: root (Cron Daemon)\nTo: admin@example.net\nSubject: Cron <root@web1> backup\n\ndisk is full\n'

describe('a server with Postfix', () => {
  test('sends its mail as the fallback sender, and its bounces with a null sender', async () => {
    const server = await startServer(domain => ({ fallback_sender: `server@${domain}`, allow_null_sender: true }))
    const { postfix, domain } = server

    await postfix.sendmail(['-i', '-FCronDaemon', 'admin@example.net'], CRON)
    const cron = await accepted(server, 'Cron')
    expect(cron.message).toMatchObject({ mail_from: `server@${domain}`, from: `server@${domain}` })
    expect(cron.raw).toMatch(new RegExp(`^From: "Cron Daemon" <server@${domain}>\r$`, 'm'))
    expect(cron.raw).toContain('\r\n\r\ndisk is full\r\n')

    const own = `From: Shop <shop@${domain}>\nTo: b@example.net\nSubject: order\n\nthanks\n`
    await postfix.sendmail(['-i', '-f', `shop@${domain}`, 'b@example.net'], own)
    expect((await accepted(server, 'order')).message).toMatchObject({
      mail_from: `shop@${domain}`,
      from: `shop@${domain}`,
    })

    // A rejected recipient makes Postfix return the mail to its sender.
    await postfix.sendmail(['-i', '-f', 'admin@example.net', 'nobody@localhost'], CRON.replace('Cron <', 'lost <'))
    const bounce = await accepted(server, 'Undelivered Mail')
    expect(bounce.message).toMatchObject({
      mail_from: '',
      from: `server@${domain}`,
      rcpts: [{ email: 'admin@example.net' }],
    })
    expect(bounce.raw).toMatch(new RegExp(`^From: "Mail Delivery System" <server@${domain}>\r$`, 'm'))
  }, 300_000)

  test('logs the reason of the rejection without these settings', async () => {
    const server = await startServer(() => ({}))
    await server.postfix.sendmail(['-i', 'admin@example.net'], CRON)
    await until(async () => (await server.postfix.describe()).includes('status=bounced'), 60_000)
    expect(await server.postfix.describe()).toMatch(/550 5\.7\.1 web1\.internal is not a domain of this account/)
    expect(await server.mongo.db.collection('messages').countDocuments()).toBe(0)
  })
})
