import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dmarcXml, tlsReport, yesterday, zipOf } from '../../../../test/support/mail/domain-reports.ts'
import { turnsDuring } from '../../../../test/support/time/event-loop-turns.ts'
import { SentenceError } from '../../../platform/sentences/sentence.ts'
import { MAX_FILE_BYTES, MAX_RECORDS } from '../rules/report-limits.ts'
import { ReportError } from '../rules/report-values.ts'
import { readReport } from './read-report.ts'

const read = (file: Buffer | string) => readReport(Buffer.from(file), Date.now())
/** The code of the sentence with which a file is refused. */
const refusalOf = (file: Buffer | string) =>
  read(file).then(
    report => `read as ${report.kind}`,
    (error: unknown) => (error instanceof ReportError ? error.sentence.code : Promise.reject(error)),
  )

describe('a DMARC report', () => {
  test.each([false, true])('of RFC 7489 or, with %s, RFC 9990', async modern => {
    const records = [
      { ip: '192.0.2.1', count: '12', signature: ['example.com', 'pass'] as [string, string] },
      {
        ...{
          ip: '2001:DB8::00FF',
          count: '2',
          disposition: 'reject',
          dkim: 'fail',
          spf: 'fail',
          from: 'News.Example.com.',
        },
        ...{ reason: 'mailing_list', sender: ['list.example.org', 'pass'] as [string, string] },
      },
    ]
    const report = await read(dmarcXml({ modern, records }))
    const begin = yesterday() * 1000
    expect(report).toEqual({
      kind: 'dmarc',
      ...{ org: 'receiver.example', contact: 'noreply-dmarc@receiver.example', reportId: 'report-1' },
      ...{ policyDomain: 'example.com', policy: 'none', begin, end: begin + 86_399_000, skipped: 0 },
      rows: [
        {
          ...{ ip: '192.0.2.1', messages: 12, disposition: 'none', dkimAligned: true, spfAligned: true },
          ...{ forwarded: false, headerFrom: 'example.com', spfDomain: 'example.com', spfPassed: true },
          ...{ dkimDomain: 'example.com', dkimPassed: true },
        },
        {
          ...{ ip: '2001:db8::ff', messages: 2, disposition: 'reject', dkimAligned: false, spfAligned: false },
          ...{ forwarded: true, headerFrom: 'news.example.com', spfDomain: 'list.example.org', spfPassed: true },
          ...{ dkimDomain: 'example.com', dkimPassed: false },
        },
      ],
    })
  })

  test('with prefixes for its namespace, comments, CDATA and a byte order mark', async () => {
    const xml = dmarcXml()
      .replaceAll(/<(\/?)(?=[a-z])/g, '<$1d:')
      .replace('<d:feedback>', '<d:feedback xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0"><!-- by a tool -->')
      .replace('report-1', '<![CDATA[a<b]]>')
    expect(await read(`\ufeff${xml}`)).toMatchObject({ reportId: 'a<b', rows: [{ messages: 3 }] })
  })

  test('in ISO 8859-1, with an organisation that is not ASCII', async () => {
    const xml = Buffer.from(dmarcXml({ org: 'Müller' }).replace('UTF-8', 'ISO-8859-1'), 'latin1')
    expect(await read(xml)).toMatchObject({ org: 'Müller' })
  })

  test('without records: no mail was seen', async () => {
    expect(await read(dmarcXml({ records: [] }))).toMatchObject({ rows: [], skipped: 0 })
  })

  test('keeps its valid records when others are not', async () => {
    const records = [
      ...[{ ip: '300.1.1.1' }, { ip: '1' }, { ip: '0x7f.1' }, { ip: 'fe80::1%eth0' }, { ip: '' }],
      ...[{ count: '-1' }, { count: '1e3' }, { count: '99999999999' }, { count: 'many' }, { from: '' }, { from: '.' }],
      ...[{ count: '0' }, { ip: '::ffff:192.0.2.9', count: '7' }],
    ]
    const report = await read(dmarcXml({ records }))
    expect(report).toMatchObject({ skipped: 11, rows: [{ ip: '192.0.2.9', messages: 7 }] })
  })

  test(`with ${MAX_RECORDS} records is read without holding up others`, async () => {
    const record = `<record><row><source_ip>192.0.2.1</source_ip><count>1</count></row>
      <identifiers><header_from>example.com</header_from></identifiers></record>`
    const file = dmarcXml({ records: [] }).replace('</feedback>', `${record.repeat(MAX_RECORDS)}</feedback>`)
    const turns = await turnsDuring(async () => {
      const report = await read(file)
      expect(report.kind === 'dmarc' && report.rows).toHaveLength(MAX_RECORDS)
    })
    expect(turns).toBeGreaterThan(100)
  })
})

describe('a TLS report', () => {
  test('of RFC 8460', async () => {
    const begin = yesterday() * 1000
    expect(await read(JSON.stringify(tlsReport()))).toEqual({
      kind: 'tls',
      ...{ org: 'Sender Inc.', contact: 'sts-reporting@sender.example', reportId: 'tls-1' },
      ...{ begin, end: begin + 86_399_000, skipped: 0 },
      policies: [
        {
          ...{ type: 'sts', domain: 'example.com', successful: 5326, failed: 303 },
          failures: [
            { type: 'certificate-expired', mx: 'mx1.mail.example.com', sessions: 100 },
            { type: 'starttls-not-supported', mx: 'mx2.mail.example.com', sessions: 200 },
          ],
        },
      ],
    })
  })

  test('keeps what is valid, and takes unknown results as other', async () => {
    const [good] = tlsReport().policies
    const policies = [
      ...[null, 7, {}, { ...good, summary: { 'total-successful-session-count': -1 } }],
      {
        ...good,
        'failure-details': [
          { 'result-type': 'new-type', 'failed-session-count': 4 },
          { 'result-type': 'certificate-expired', 'failed-session-count': 1.5 },
          { 'failed-session-count': 1 },
          'text',
        ],
      },
      { ...good, 'failure-details': 'none' },
    ]
    expect(await read(JSON.stringify(tlsReport('example.com', { policies })))).toMatchObject({
      skipped: 7,
      policies: [{ failures: [{ type: 'other', mx: undefined, sessions: 4 }] }, { failures: [] }],
    })
  })
})

describe('a report is recognised by its content', () => {
  const xml = Buffer.from(dmarcXml())
  const json = Buffer.from(JSON.stringify(tlsReport()))
  test.each<[string, Buffer, string]>([
    ['plain XML', xml, 'dmarc'],
    ['plain JSON', json, 'tls'],
    ['gzip of XML', gzipSync(xml), 'dmarc'],
    ['gzip of JSON', gzipSync(json), 'tls'],
    ['gzip in two members', Buffer.concat([gzipSync(xml.subarray(0, 300)), gzipSync(xml.subarray(300))]), 'dmarc'],
    ['zip', zipOf([{ name: 'a!b!1!2.xml', content: xml }]), 'dmarc'],
    [
      'zip with a folder',
      zipOf([
        { name: 'd/', content: Buffer.alloc(0) },
        { name: 'd/r.XML', content: xml },
      ]),
      'dmarc',
    ],
    [
      'zip with a file of another kind',
      zipOf([
        { name: '._x', content: xml },
        { name: 'r.json', content: json },
      ]),
      'tls',
    ],
  ])('%s', async (_, file, kind) => {
    expect((await read(file)).kind).toBe(kind)
  })
})

const bomb = Buffer.alloc(64 * 1024 * 1024, ' ')
const xml = dmarcXml()
const entities = `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(100)}"><!ENTITY b "&a;&a;">]>`
const inside = (content: string) => xml.replace('report-1', content)

describe('a hostile or damaged file is refused', () => {
  test.each<[string, () => Buffer | string, string]>([
    ['empty', () => '', 'report.unknown_format'],
    ['text', () => 'hello', 'report.unknown_format'],
    ['a picture', () => Buffer.from('89504e470d0a1a0a', 'hex'), 'report.unknown_format'],
    ['more than 10 MiB', () => Buffer.alloc(MAX_FILE_BYTES + 1, ' '), 'report.file_too_large'],
    ['a gzip bomb', () => gzipSync(bomb), 'report.inflates_too_much'],
    ['a zip bomb', () => zipOf([{ name: 'r.xml', content: bomb }]), 'report.inflates_too_much'],
    [
      'a zip bomb that states a small size',
      () => zipOf([{ name: 'r.xml', content: bomb, size: 99 }]),
      'report.archive_damaged',
    ],
    ['a gzip that ends early', () => gzipSync(xml).subarray(0, -20), 'report.archive_damaged'],
    ['a gzip of nothing', () => Buffer.from([0x1f, 0x8b]), 'report.archive_damaged'],
    [
      'a zip that ends early',
      () => zipOf([{ name: 'r.xml', content: Buffer.from(xml) }]).subarray(0, -30),
      'report.archive_damaged',
    ],
    [
      'a zip whose file has a path upwards',
      () => zipOf([{ name: '../../etc/r.xml', content: Buffer.from(xml) }]),
      'report.archive_damaged',
    ],
    ['an absolute path', () => zipOf([{ name: '/etc/r.xml', content: Buffer.from(xml) }]), 'report.archive_damaged'],
    [
      'an encrypted file',
      () => zipOf([{ name: 'r.xml', content: Buffer.from(xml), flags: 1 }]),
      'report.archive_entries',
    ],
    [
      'a zip of two reports',
      () => zipOf(['a.xml', 'b.xml'].map(name => ({ name, content: Buffer.from(xml) }))),
      'report.archive_entries',
    ],
    ['a zip without a report', () => zipOf([{ name: 'a.txt', content: Buffer.from(xml) }]), 'report.archive_entries'],
    [
      'a zip of many files',
      () => zipOf(Array.from({ length: 11 }, (_, n) => ({ name: `${n}`, content: Buffer.alloc(1) }))),
      'report.archive_entries',
    ],
    [
      'a zip in a zip',
      () => zipOf([{ name: 'r.xml', content: zipOf([{ name: 'r.xml', content: Buffer.from(xml) }]) }]),
      'report.unknown_format',
    ],
    ['a gzip in a gzip', () => gzipSync(gzipSync(xml)), 'report.unknown_format'],
    ['UTF-16', () => Buffer.from(`\ufeff${xml}`, 'utf16le'), 'report.unknown_format'],
    ['NUL', () => inside('a\0b'), 'report.unknown_format'],
    [
      'entities',
      () => xml.replace('<feedback>', `${entities}<feedback>`).replace('report-1', '&b;'),
      'report.document_type',
    ],
    [
      'a document type in lower case',
      () => xml.replace('<feedback>', '<!doctype feedback><feedback>'),
      'report.document_type',
    ],
    [
      'an external entity',
      () => xml.replace('<feedback>', '<!DOCTYPE f SYSTEM "file:///etc/passwd"><feedback>'),
      'report.document_type',
    ],
    ['an entity that is not declared', () => inside('&x;'), 'report.not_well_formed'],
    ['an element that is not closed', () => xml.replace('</feedback>', ''), 'report.not_well_formed'],
    ['elements that overlap', () => inside('<a><b></a></b>'), 'report.not_well_formed'],
    ['a second root', () => `${xml}<feedback/>`, 'report.not_well_formed'],
    ['HTML', () => '<html><body>Report</body></html>', 'report.not_a_report'],
    ['deep elements', () => inside('<a>'.repeat(100)), 'report.too_deep'],
    ['a long text', () => inside('x'.repeat(5_000)), 'report.field_too_long'],
    ['a very long text', () => inside('x'.repeat(200_000)), 'report.field_too_long'],
    ['a long name of an element', () => inside(`<${'x'.repeat(200_000)}>`), 'report.not_well_formed'],
    ['no organisation', () => xml.replace(/<org_name>.*<\/org_name>/, ''), 'report.field_missing'],
    ['an organisation of control characters', () => dmarcXml({ org: '\u200e' }), 'report.field_missing'],
    ['no id', () => inside(' '), 'report.field_missing'],
    ['no domain', () => dmarcXml({ domain: 'a b', records: [] }), 'report.field_missing'],
    ['a time that is no number', () => xml.replace(/<begin>\d+/, '<begin>NaN'), 'report.field_missing'],
    ['only invalid records', () => dmarcXml({ records: [{ ip: 'x' }] }), 'report.no_valid_records'],
    [
      'too many records',
      () => dmarcXml({ records: [] }).replace('</feedback>', `${'<record/>'.repeat(MAX_RECORDS + 1)}</feedback>`),
      'report.too_many_records',
    ],
    ['an end before the begin', () => dmarcXml({ begin: yesterday(), end: yesterday() - 1 }), 'report.period'],
    ['a year', () => dmarcXml({ begin: yesterday() - 365 * 86_400, end: yesterday() }), 'report.period'],
    ['the future', () => dmarcXml({ begin: yesterday() + 4 * 86_400 }), 'report.period'],
    ['1970', () => dmarcXml({ begin: 0 }), 'report.period'],
    ['JSON that ends early', () => JSON.stringify(tlsReport()).slice(0, -5), 'report.not_json'],
    ['deep JSON', () => `{"policies":${'['.repeat(50)}`, 'report.not_json'],
    ['JSON with a prototype', () => '{"__proto__":{"policies":[]}}', 'report.not_json'],
    ['JSON without policies', () => JSON.stringify({ ...tlsReport(), policies: undefined }), 'report.field_missing'],
    [
      'JSON with policies of another type',
      () => JSON.stringify({ ...tlsReport(), policies: 'all' }),
      'report.field_missing',
    ],
    ['JSON without an id', () => JSON.stringify({ ...tlsReport(), 'report-id': 7 }), 'report.field_missing'],
    [
      'JSON with a bad date',
      () => JSON.stringify({ ...tlsReport(), 'date-range': { 'start-datetime': 'now' } }),
      'report.field_missing',
    ],
    [
      'JSON with only invalid policies',
      () => JSON.stringify(tlsReport('example.com', { policies: [{}, {}] })),
      'report.no_valid_records',
    ],
  ])('%s', async (_, file, code) => {
    expect(await refusalOf(file())).toBe(code)
  })

  test('a report that was damaged anywhere is read or refused, and nothing else happens', async () => {
    const files = [Buffer.from(xml), gzipSync(xml), zipOf([{ name: 'r.xml', content: Buffer.from(xml) }])]
    const damage = fc.tuple(fc.nat(files.length - 1), fc.nat(5_000), fc.uint8Array({ minLength: 1, maxLength: 8 }))
    await fc.assert(
      fc.asyncProperty(damage, async ([n, at, bytes]) => {
        const file = Buffer.from(files[n] ?? '')
        file.set(bytes.subarray(0, Math.max(0, file.length - (at % file.length))), at % file.length)
        await readReport(file, Date.now()).catch((error: unknown) => {
          if (!(error instanceof SentenceError)) throw error
        })
      }),
      { numRuns: 300 },
    )
  })
})
