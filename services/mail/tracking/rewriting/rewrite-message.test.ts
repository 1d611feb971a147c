import { describe, expect, test } from 'vitest'
import { readMime } from '../../message/mime-reader.ts'
import { encodeQuotedPrintable } from '../../message/transfer-encoding.ts'
import { planRewriting, type RewritingOptions } from './rewrite-message.ts'

const OPTIONS: RewritingOptions = { opens: false, clicks: true, ownPrefixes: ['https://app.example.net/u/'] }
const ADDRESSES = {
  link: (target: string) => `https://l.test/${seen.push(target)}`,
  image: () => 'https://l.test/i.gif',
}
let seen: string[] = []

interface Part {
  type?: string
  encoding?: string
  header?: string
}

function encode(html: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(html.toString('base64').replace(/.{76}/g, '$&\r\n'))
  return encoding === 'quoted-printable' ? Buffer.concat([...encodeQuotedPrintable(html)]) : html
}

function message(
  html: string | Buffer,
  { type = 'text/html; charset=utf-8', encoding = '8bit', header = '' }: Part = {},
) {
  const head = `From: a@example.com\r\n${header}MIME-Version: 1.0\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), encode(Buffer.from(html), encoding), Buffer.from('\r\n')])
}

/** The message after rewriting, and the targets; undefined: it was left alone. */
async function rewrite(raw: Buffer, options: Partial<RewritingOptions> = {}) {
  seen = []
  const plan = await planRewriting(raw, { ...OPTIONS, ...options })
  if (!plan) return undefined
  const changed = plan(raw, ADDRESSES)
  return { raw: changed, targets: seen, html: readMime(changed).html ?? '' }
}

/** White space in tags means nothing. */
const squeeze = (html: string) => html.replaceAll(/\s+/g, ' ').replaceAll(' >', '>').trim()

describe.each(['7bit', '8bit', 'binary', 'quoted-printable', 'base64'])('in %s', encoding => {
  test('links lead elsewhere and all else stays', async () => {
    const html =
      '<p>Hi &amp; <a class="x" href="https://example.org/a?b=1&amp;c=2#d" title=\'t\'>go</a>.\r\n<b>end</b></p>'
    const changed = await rewrite(message(html, { encoding }))
    expect(changed?.targets).toEqual(['https://example.org/a?b=1&c=2#d'])
    expect(squeeze(changed?.html ?? '')).toBe(squeeze(html.replace(/href="[^"]+"/, 'href="https://l.test/1"')))
    for (const line of String(changed?.raw).split('\r\n'))
      expect(line.length).toBeLessThanOrEqual(
        encoding === '8bit' || encoding === '7bit' || encoding === 'binary' ? 998 : 76,
      )
  })

  test('an image comes before the end of the body', async () => {
    const changed = await rewrite(message('<html><body><p>Hi</p></body></html>', { encoding }), { opens: true })
    expect(squeeze(changed?.html ?? '')).toBe(
      '<html><body><p>Hi</p> <img src="https://l.test/i.gif" width="1" height="1" alt="" style="border:0"> </body></html>'.replaceAll(
        /> </g,
        encoding.endsWith('bit') || encoding === 'binary' ? '> <' : '><',
      ),
    )
  })

  test('long lines and many links are kept apart', async () => {
    const html = `<p>${'x '.repeat(300)}${Array.from({ length: 200 }, (_, n) => `<a href="https://example.org/${n}/${'y'.repeat(40)}">é${n}</a>`).join('\r\n')}</p>`
    const changed = await rewrite(message(html, { encoding }))
    expect(changed?.targets).toHaveLength(200)
    expect(
      squeeze(changed?.html ?? '').replaceAll(
        /https:\/\/l\.test\/(\d+)/g,
        (_, n) => `https://example.org/${Number(n) - 1}/${'y'.repeat(40)}`,
      ),
    ).toBe(squeeze(html))
  })
})

test('a link that no line can hold stays in a plain encoding', async () => {
  const long = `https://example.org/${'y'.repeat(900)}`
  const addresses = { ...ADDRESSES, link: () => `https://l.test/${'t'.repeat(1_200)}` }
  for (const [encoding, isLeft] of [
    ['8bit', true],
    ['quoted-printable', false],
    ['base64', false],
  ] as const) {
    const raw = message(`<a\r\nhref="${long}">x</a>`, { encoding })
    const html = readMime((await planRewriting(raw, OPTIONS))?.(raw, addresses) ?? raw).html
    expect(html?.includes(long)).toBe(isLeft)
  }
})

describe('what a link is', () => {
  test.each<[string, string, string[]]>([
    ['https', '<a href="https://example.org">x</a>', ['https://example.org/']],
    ['http, in capitals, without quotes', '<A CLASS=a HREF=HTTP://Example.org/Path>x</A>', ['http://example.org/Path']],
    ['with line ends and blanks', '<a href=" https://example.org/a\r\n/b ">x</a>', ['https://example.org/a/b']],
    [
      'with an international name',
      '<a href="https://bücher.example/ö?q=ü">x</a>',
      ['https://xn--bcher-kva.example/%C3%B6?q=%C3%BC'],
    ],
    ['with references', '<a href="&#104;ttps://example.org/&quot;">x</a>', ['https://example.org/%22']],
    ['the first of two', '<a href="https://one.example/" href="https://two.example/">x</a>', ['https://one.example/']],
    ['unfinished before the end', '<a href="https://example.org/">x<p', ['https://example.org/']],
  ])('%s', async (_, html, targets) => expect((await rewrite(message(html)))?.targets).toEqual(targets))

  test.each<[string, string]>([
    ['mailto', '<a href="mailto:a@example.org">x</a>'],
    ['tel', '<a href="tel:+123">x</a>'],
    ['an anchor', '<a href="#top">x</a>'],
    ['a relative address', '<a href="/a">x</a>'],
    ['a script', '<a href="javascript:alert(1)">x</a>'],
    ['no address', '<a name="x">x</a>'],
    ['an empty one', '<a href="">x</a>'],
    ['no host', '<a href="https://">x</a>'],
    ['a login', '<a href="https://bank.example@evil.example/">x</a>'],
    ['very long', `<a href="https://example.org/${'a'.repeat(2_050)}">x</a>`],
    ['an opt-out', '<a data-no-track href="https://example.org/">x</a>'],
    ['an opt-out with a value', '<a href="https://example.org/" DATA-NO-TRACK="">x</a>'],
    ['of ours', '<a href="https://app.example.net/u/token">x</a>'],
    ['an image', '<img src="https://example.org/a.png">'],
    ['another element', '<area href="https://example.org/"><link href="https://example.org/">'],
    ['within a comment', '<!-- <a href="https://example.org/">x</a> -->'],
    ['within a style', '<style><a href="https://example.org/"></style>'],
    ['within a title', '<title><a href="https://example.org/"></title>'],
    ['within a textarea', '<textarea><a href="https://example.org/"></textarea>'],
    ['within a script', '<script>"<a href=\'https://example.org/\'>"</script>'],
    ['within an attribute', '<p title="<a href=\'https://example.org/\'>">x</p>'],
    ['within a drawing', '<svg><a href="https://example.org/">x</a></svg>'],
    ['within an unfinished tag', '<a href="https://example.org/"'],
  ])('%s is not', async (_, html) => expect(await rewrite(message(html))).toBeUndefined())

  test('the address by which a recipient leaves the list is not', async () => {
    const header = 'List-Unsubscribe: <mailto:x@example.org>,\r\n <https://news.example/leave?u=1>\r\n'
    const html = '<a href="https://news.example/leave?u=1">leave</a><a href="https://news.example/">go</a>'
    expect((await rewrite(message(html, { header })))?.targets).toEqual(['https://news.example/'])
  })

  test('there are at most 1,000', async () => {
    const changed = await rewrite(message('<a href="https://example.org/">x</a>'.repeat(1_200)))
    expect(changed?.targets).toHaveLength(1_000)
  })

  test('the limit is that of the message, however many parts it has', async () => {
    const links = '<a href="https://example.org/">x</a>\r\n'.repeat(400)
    const part = `--b\r\nContent-Type: text/html\r\n\r\n${links}`
    const raw = Buffer.from(
      `From: a@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(4)}--b--\r\n`,
    )
    const changed = await rewrite(raw)
    expect(changed?.targets).toHaveLength(1_000)
    expect(changed?.raw.subarray(-part.length - 7).toString()).toBe(`${part}--b--\r\n`)
    const opened = await rewrite(raw, { opens: true, clicks: false })
    expect([opened?.targets.length, String(opened?.raw).split('i.gif').length - 1]).toEqual([0, 1])
  })
})

describe('charsets', () => {
  const gbk = Buffer.concat([
    Buffer.from('<p>'),
    Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x81, 0x7c, 0x95, 0x5c]),
    Buffer.from('<a href="https://example.org/">'),
    Buffer.from([0xb5, 0xe3]),
    Buffer.from('</a></p>'),
  ])
  test.each(['gbk', 'gb2312', 'GB18030', 'big5', 'shift_jis', 'iso-8859-1', 'koi8-r', 'us-ascii', '"windows-1252"'])(
    '%s keeps its octets',
    async charset => {
      const raw = message(gbk, { type: `text/html; charset=${charset}` })
      const changed = (await rewrite(raw))?.raw.toString('latin1') ?? ''
      expect(changed.replace(/\r\nhref="https:\/\/l\.test\/1"\r\n /, 'href="https://example.org/"')).toBe(
        raw.toString('latin1'),
      )
    },
  )

  test.each(['utf-16', 'iso-2022-jp', 'utf-7', 'x-unknown'])('%s is left alone', async charset =>
    expect(
      await rewrite(message('<a href="https://example.org/">x</a>', { type: `text/html; charset=${charset}` })),
    ).toBeUndefined(),
  )

  test.each<[string, Buffer]>([
    ['escapes of ISO-2022-JP', Buffer.from('\x1b$B<a href="https://example.org/">\x1b(B', 'latin1')],
    ['UTF-16', Buffer.from('<a href="https://example.org/">', 'utf16le')],
  ])('%s without a label are left alone', async (_, html) =>
    expect(await rewrite(message(html, { type: 'text/html' }))).toBeUndefined(),
  )

  test('an address is read in the charset of its page, and left alone with a query that depends on it', async () => {
    const page = (more: number[]) =>
      message(
        Buffer.concat([Buffer.from('<a href="https://example.org/'), Buffer.from(more), Buffer.from('">x</a>')]),
        {
          type: 'text/html; charset=gbk',
        },
      )
    expect((await rewrite(page([0xc4, 0xe3])))?.targets).toEqual(['https://example.org/%E4%BD%A0'])
    expect(await rewrite(page([0x3f, 0xc4, 0xe3]))).toBeUndefined()
  })
})

describe('messages that are left alone', () => {
  const html = '<a href="https://example.org/">x</a>'
  const part = (type: string, more = '') => `--b\r\nContent-Type: ${type}\r\n${more}\r\n${html}\r\n`
  const multipart = (type: string, ...parts: string[]) =>
    Buffer.from(`From: a@example.com\r\nContent-Type: ${type}; boundary=b\r\n\r\n${parts.join('')}--b--\r\n`)
  test.each<[string, Buffer]>([
    ['text', message(html, { type: 'text/plain' })],
    ['signed by the sender', message(html, { header: 'DKIM-Signature: v=1; d=example.com\r\n' })],
    [
      'signed with a certificate',
      multipart('multipart/signed', part('text/html'), part('application/pkcs7-signature')),
    ],
    ['encrypted', multipart('multipart/encrypted', part('application/pgp-encrypted'), part('text/html'))],
    ['opaque', message(html, { type: 'application/pkcs7-mime' })],
    ['PGP within the text', message(`-----BEGIN PGP SIGNED MESSAGE-----\r\n${html}`)],
    ['a report', multipart('multipart/report', part('text/html'))],
    [
      'an attached page',
      multipart('multipart/mixed', part('text/plain'), part('text/html', 'Content-Disposition: attachment\r\n')),
    ],
    [
      'an attached message',
      multipart(
        'multipart/mixed',
        `--b\r\nContent-Type: message/rfc822\r\n\r\nContent-Type: text/html\r\n\r\n${html}\r\n`,
      ),
    ],
    ['an unknown encoding', message(html, { encoding: 'x-uuencode' })],
    [
      'broken base64',
      Buffer.from(`From: a@b.c\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGEg*\r\n`),
    ],
    ['a huge page', message(`${'<p>x</p>'.repeat(140_000)}${html}`)],
    ['no message', Buffer.from('no header\r\n\r\n')],
    ['nothing', Buffer.alloc(0)],
  ])('%s', async (_, raw) => expect(await rewrite(raw, { opens: true })).toBeUndefined())

  test('parts beside one that is changed keep their octets', async () => {
    const raw = multipart(
      'multipart/mixed',
      part('text/plain'),
      part('text/html'),
      part('text/html', 'Content-Disposition: attachment\r\n'),
    )
    const changed = String((await rewrite(raw))?.raw)
    expect(changed.match(/example\.org/g)).toHaveLength(2)
    expect(changed.replace('\r\nhref="https://l.test/1"\r\n ', 'href="https://example.org/"')).toBe(String(raw))
  })

  test('one image is put into the first of several pages', async () => {
    const raw = multipart('multipart/mixed', part('text/html'), part('text/html'))
    const changed = await rewrite(raw, { opens: true })
    expect(String(changed?.raw).match(/<img/g)).toHaveLength(1)
    expect(changed?.targets).toHaveLength(2)
  })
})

test('no line that follows an edit becomes a boundary', async () => {
  for (const encoding of ['8bit', 'quoted-printable']) {
    const changed = await rewrite(message('<a href="https://example.org/"--b>x</a>', { encoding }))
    expect(String(changed?.raw)).not.toMatch(/^--b/m)
    expect(squeeze(changed?.html ?? '')).toContain('--b>x</a>')
  }
})

test.each<[string, string]>([
  ['nested', '<div>'.repeat(150_000)],
  ['open tags', '<a href='.repeat(100_000)],
  ['open comments', '<!--'.repeat(200_000)],
  ['quotes', `<a ${'"'.repeat(500_000)}`],
  ['attributes', `<a ${Array.from({ length: 20_000 }, (_, n) => `a${n}=1 `).join('')}>`],
])('reads hostile HTML in a short time: %s', async (_, html) => {
  const started = performance.now()
  await rewrite(message(html), { opens: true })
  expect(performance.now() - started).toBeLessThan(10_000)
})
