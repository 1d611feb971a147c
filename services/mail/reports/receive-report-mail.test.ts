import { gzipSync } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { giveDomain } from '../../../test/support/accounts/accounts-and-domains.ts'
import { databaseForThisTest, freshDatabase } from '../../../test/support/database/test-database.ts'
import { dmarcXml, tlsReport, zipOf } from '../../../test/support/mail/domain-reports.ts'
import { systemClock } from '../../platform/clock.ts'
import { ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { domains } from '../domains/store/domain-model.ts'
import { reportAddress, reportToken } from '../message/report-address.ts'
import { receiveReportMail } from './receive-report-mail.ts'
import { reportCollections } from './store/report-model.ts'

const MAIL_DOMAIN = 'bounce.example.net'
const secrets = createSecrets('a secret of at least thirty-two bytes')
let mongo: Mongo
let id: string
beforeEach(async () => {
  mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [...reportCollections, domains])
  id = (await giveDomain(mongo.db, 'usr_1', 'example.com'))._id
})

const addressOf = (kind: 'dmarc' | 'tls', domainId = id) =>
  reportAddress(
    kind,
    reportToken(kind, domainId, value => secrets.macs('report-address', value)),
    MAIL_DOMAIN,
  )
const receive = (recipient: string, raw: string) =>
  receiveReportMail(
    { mongo, clock: systemClock, secrets, mailDomain: MAIL_DOMAIN },
    { recipient, raw: Buffer.from(raw) },
  )

interface Attachment {
  type: string
  name?: string
  content: Buffer | string
}
/** A message as reporters send it, with its attachments in base64. */
function mailWith(...attachments: Attachment[]): string {
  const part = ({ type, name, content }: Attachment) =>
    [
      `Content-Type: ${type}${name ? `; name="${name}"` : ''}`,
      'Content-Transfer-Encoding: base64',
      ...(name ? [`Content-Disposition: attachment; filename="${name}"`] : []),
      '',
      Buffer.from(content).toString('base64').replaceAll(/.{76}/g, '$&\r\n'),
    ].join('\r\n')
  return [
    'From: noreply-dmarc@receiver.example',
    'Subject: Report domain: example.com',
    'Content-Type: multipart/mixed; boundary="b"',
    '',
    ...['--b', 'Content-Type: text/plain', '', 'A report is attached.'],
    ...attachments.flatMap(one => ['--b', part(one)]),
    '--b--',
    '',
  ].join('\r\n')
}
const XML = dmarcXml()
const GZIP = { type: 'application/gzip', name: 'a!example.com!1!2.xml.gz', content: gzipSync(XML) }

test.each<[string, 'dmarc' | 'tls', () => string]>([
  ['gzip', 'dmarc', () => mailWith(GZIP)],
  [
    'zip',
    'dmarc',
    () =>
      mailWith({
        type: 'application/zip',
        name: 'r.zip',
        content: zipOf([{ name: 'r.xml', content: Buffer.from(XML) }]),
      }),
  ],
  ['XML', 'dmarc', () => mailWith({ type: 'text/xml', content: XML })],
  ['a type that is wrong', 'dmarc', () => mailWith({ type: 'text/plain', name: 'r.xml.gz', content: gzipSync(XML) })],
  ['a picture before it', 'dmarc', () => mailWith({ type: 'image/png', name: 'logo.png', content: 'x' }, GZIP)],
  [
    'another file before it',
    'dmarc',
    () => mailWith({ type: 'application/octet-stream', name: 'x.zip', content: 'PK' }, GZIP),
  ],
  [
    'TLS, gzip',
    'tls',
    () =>
      mailWith({ type: 'application/tlsrpt+gzip', name: 'r.json.gz', content: gzipSync(JSON.stringify(tlsReport())) }),
  ],
  ['TLS, JSON', 'tls', () => mailWith({ type: 'application/tlsrpt+json', content: JSON.stringify(tlsReport()) })],
  [
    'the report as the whole message',
    'dmarc',
    () =>
      `Content-Type: application/gzip\r\nContent-Transfer-Encoding: base64\r\n\r\n${gzipSync(XML).toString('base64')}\r\n`,
  ],
])('a report is taken from a message with %s, once', async (_, kind, mail) => {
  expect(await receive(addressOf(kind), mail())).toMatchObject({
    kind: 'taken',
    report: { kind, via: 'mail', duplicate: false },
  })
  expect(await receive(addressOf(kind).toUpperCase(), mail())).toMatchObject({
    kind: 'taken',
    report: { duplicate: true },
  })
})

test.each<[string, () => string, string]>([
  ['no attachment', () => mailWith(), 'report.no_attachment'],
  ['a text alone', () => 'Subject: Hi\r\n\r\nHello\r\n', 'report.no_attachment'],
  ['nothing', () => '', 'report.no_attachment'],
  [
    'a report about another domain',
    () => mailWith({ ...GZIP, content: gzipSync(dmarcXml({ domain: 'example.org' })) }),
    'report.other_domain',
  ],
  [
    'a bomb',
    () => mailWith({ ...GZIP, content: gzipSync(Buffer.alloc(64 * 1024 * 1024)) }),
    'report.inflates_too_much',
  ],
  [
    'five files before it',
    () => mailWith(...Array.from({ length: 5 }, () => ({ ...GZIP, content: 'x' })), GZIP),
    'report.unknown_format',
  ],
])('a message with %s is refused', async (_, mail, code) => {
  expect(await receive(addressOf('dmarc'), mail())).toMatchObject({ kind: 'refused', reason: { code } })
})

test.each<[string, () => string]>([
  ['of a domain that does not exist', () => addressOf('dmarc', 'dom_unknown')],
  ['with another signature', () => addressOf('dmarc').replace(/.@/, '_@')],
  ['at another mail domain', () => addressOf('dmarc').replace(MAIL_DOMAIN, 'example.com')],
  ['of a bounce', () => `bounce+1@${MAIL_DOMAIN}`],
])('an address %s is unknown', async (_, address) => {
  expect(await receive(address(), mailWith(GZIP))).toEqual({ kind: 'unknown_recipient' })
})

test('rejects while the database is away, so that the message is processed again', async () => {
  const away = await freshDatabase()
  await away.stop()
  const context = { mongo: away, clock: systemClock, secrets, mailDomain: MAIL_DOMAIN }
  const mail = { recipient: addressOf('dmarc'), raw: Buffer.from(mailWith(GZIP)) }
  await expect(receiveReportMail(context, mail)).rejects.toThrow()
})
