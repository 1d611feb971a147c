import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { toSevenBit, Unconvertible } from './seven-bit.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1')

function convert(message: string): string {
  try {
    return Buffer.concat([...toSevenBit(latin1(message))]).toString('latin1')
  } catch (error) {
    if (error instanceof Unconvertible) return error.reason
    throw error
  }
}

const HEAD = 'From: a@example.com\r\nSubject: x\r\n'
const MIME = `${HEAD}MIME-Version: 1.0\r\n`
const TEXT = 'Content-Type: text/plain; charset=utf-8\r\n'
const multipart = (type: string, parts: readonly string[], boundary = 'b', around = ['', '']) =>
  `Content-Type: ${type}; boundary=${boundary}\r\n\r\n${around[0]}${parts.map(part => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--${around[1]}\r\n`

describe('single parts', () => {
  test.each([
    ['ASCII stays', `${MIME}${TEXT}\r\nhello\r\n`, `${MIME}${TEXT}\r\nhello\r\n`],
    [
      'text becomes quoted-printable',
      `${MIME}${TEXT}Content-Transfer-Encoding: 8bit\r\n\r\nDear all, many ${utf8('Grüße')} \r\n`,
      `${MIME}${TEXT}Content-Transfer-Encoding: quoted-printable\r\n\r\nDear all, many Gr=C3=BC=C3=9Fe=20\r\n`,
    ],
    [
      'text that is all beyond ASCII becomes base64',
      `${MIME}${TEXT}\r\n${utf8('你好，世界')}\r\n`,
      `${MIME}${TEXT}Content-Transfer-Encoding: base64\r\n\r\n5L2g5aW977yM5LiW55WMDQo=\r\n`,
    ],
    [
      'other media become base64',
      `${MIME}Content-Type: image/png\r\nContent-Transfer-Encoding: binary\r\n\r\n\x89PNG`,
      `${MIME}Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw==\r\n`,
    ],
    [
      'mail without MIME gets it, with the charset that it looks like (UTF-8)',
      `${HEAD}\r\nmany and more ${utf8('é')}\r\n`,
      `${HEAD}MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nmany and more =C3=A9\r\n`,
    ],
    [
      'mail without MIME gets it, with the charset that it looks like (Latin-1)',
      `${HEAD}\r\nmany and more \xe9\r\n`,
      `${HEAD}MIME-Version: 1.0\r\nContent-Type: text/plain; charset=windows-1252\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nmany and more =E9\r\n`,
    ],
    [
      'mail without MIME gets it, with the charset that it looks like (GBK)',
      `${HEAD}\r\n\xc4\xe3\xba\xc3\r\n`,
      `${HEAD}MIME-Version: 1.0\r\nContent-Type: text/plain; charset=gb18030\r\nContent-Transfer-Encoding: base64\r\n\r\nxOO6ww0K\r\n`,
    ],
    [
      'a text without a charset gets one',
      `${MIME}Content-Type: text/html;\r\n\r\n<p>some words ${utf8('é')}</p>\r\n`,
      `${MIME}Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>some words =C3=A9</p>\r\n`,
    ],
    [
      'quoted-printable with octets above 127 in it is written properly',
      `${MIME}${TEXT}Content-Transfer-Encoding: Quoted-Printable\r\n\r\none =C3=A9 and one ${utf8('é')}, both the same=\r\n.\r\n`,
      `${MIME}${TEXT}Content-Transfer-Encoding: quoted-printable\r\n\r\none =C3=A9 and one =C3=A9, both the same.\r\n`,
    ],
    [
      'an encoding with a comment is that encoding',
      `${MIME}${TEXT}Content-Transfer-Encoding: 8bit (x)\r\n\r\nsome plain text ${utf8('é')}\r\n`,
      `${MIME}${TEXT}Content-Transfer-Encoding: quoted-printable\r\n\r\nsome plain text =C3=A9\r\n`,
    ],
    [
      'base64 with octets above 127 in it is written properly',
      `${MIME}Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBO\xe9Rw==\r\n`,
      `${MIME}Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw==\r\n`,
    ],
  ])('%s', (_, message, expected) => {
    expect(convert(message)).toBe(expected)
  })
})

describe('several parts', () => {
  const plain = `${TEXT}\r\nsome plain text ${utf8('é')}`
  const converted = `${TEXT}Content-Transfer-Encoding: quoted-printable\r\n\r\nsome plain text =C3=A9`

  test.each([
    [
      'only the parts that need it are converted',
      MIME + multipart('multipart/mixed', ['\r\nkept', plain, 'Content-Type: image/gif\r\n\r\nGIF\x89']),
      MIME +
        multipart('multipart/mixed', [
          '\r\nkept',
          converted,
          'Content-Type: image/gif\r\nContent-Transfer-Encoding: base64\r\n\r\nR0lGiQ==',
        ]),
    ],
    [
      'nested parts, and the text around them',
      MIME +
        multipart('multipart/mixed', [multipart('multipart/alternative', [plain, plain], 'bb'), plain], 'b', [
          'pr\xe9\r\n',
          '\r\n\xe9pi',
        ]),
      MIME +
        multipart(
          'multipart/mixed',
          [multipart('multipart/alternative', [converted, converted], 'bb'), converted],
          'b',
          ['\r\n', ''],
        ),
    ],
    [
      'a broken part in quoted-printable makes no boundary, nor does a soft break',
      `${MIME}${multipart('multipart/mixed', [`${TEXT}Content-Transfer-Encoding: quoted-printable\r\n\r\n=2D-b--\r\n${'x'.repeat(75)}=\r\n=2D-b--\r\n-=\r\n-b ${utf8('é')}`])}`,
      `${MIME}${multipart('multipart/mixed', [`${TEXT}Content-Transfer-Encoding: quoted-printable\r\n\r\n=2D-b--\r\n${'x'.repeat(75)}=\r\n=2D-b--\r\n=2D-b =C3=A9`])}`,
    ],
    [
      'a boundary in pieces and with a charset',
      `${MIME}Content-Type: multipart/mixed; boundary*0*=us-ascii''%62; boundary*1="c"\r\n\r\n--bc\r\n${plain}\r\n--bc--\r\n`,
      `${MIME}Content-Type: multipart/mixed; boundary*0*=us-ascii''%62; boundary*1="c"\r\n\r\n--bc\r\n${converted}\r\n--bc--\r\n`,
    ],
    [
      'the encoding of a multipart says what it holds now',
      `${MIME}Content-Transfer-Encoding: 8bit\r\n${multipart('multipart/mixed', [plain])}`,
      `${MIME}Content-Transfer-Encoding: 7bit\r\n${multipart('multipart/mixed', [converted])}`,
    ],
    [
      'names of files in a part are encoded',
      MIME +
        multipart('multipart/mixed', [`Content-Disposition: attachment; filename="${utf8('Grüße')}.txt"\r\n\r\nx`]),
      MIME +
        multipart('multipart/mixed', [
          "Content-Disposition: attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.txt\r\n\r\nx",
        ]),
    ],
    [
      'a message within the message is converted, with its header',
      MIME +
        multipart('multipart/mixed', [
          `Content-Type: message/rfc822\r\n\r\nSubject: ${utf8('Grüße an alle')}\r\n${TEXT}\r\nsome plain text ${utf8('é')}`,
        ]),
      MIME +
        multipart('multipart/mixed', [
          `Content-Type: message/rfc822\r\n\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= an alle\r\n${TEXT}MIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nsome plain text =C3=A9`,
        ]),
    ],
    [
      'the parts of a digest are messages',
      MIME + multipart('multipart/digest', [`\r\nSubject: ${utf8('ü')}\r\n\r\nx`]),
      MIME + multipart('multipart/digest', ['\r\nSubject: =?utf-8?B?w7w=?=\r\nMIME-Version: 1.0\r\n\r\nx']),
    ],
    [
      'a boundary that does not end, empty parts, and lines that only look like boundaries',
      `${MIME}Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n--b\r\n\r\n--bb ${utf8('é')} and more text\r\n--b  \r\n\r\nx --b and more text ${utf8('é')}\r\n`,
      `${MIME}Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=2D-bb =C3=A9 and more text\r\n--b  \r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nx --b and more text =C3=A9\r\n`,
    ],
    [
      'what is signed keeps its octets while they are ASCII',
      MIME +
        multipart('multipart/mixed', [
          multipart(
            'multipart/signed; micalg=sha256',
            ['\r\nsigned', 'Content-Type: application/pgp-signature\r\n\r\nsig'],
            's',
          ),
          plain,
        ]),
      MIME +
        multipart('multipart/mixed', [
          multipart(
            'multipart/signed; micalg=sha256',
            ['\r\nsigned', 'Content-Type: application/pgp-signature\r\n\r\nsig'],
            's',
          ),
          converted,
        ]),
    ],
  ])('%s', (_, message, expected) => {
    expect(convert(message)).toBe(expected)
  })

  test('1,000 parts are converted, whatever is in them', () => {
    const given = ['Content-Type: a/b\r\n\r\n\xe9', ...Array(998).fill('')]
    expect(convert(MIME + multipart('multipart/mixed', given))).toContain('\r\n\r\n6Q==\r\n--b\r\n')
  })

  test('the parts of one large message fit into 32 MiB of heap', async () => {
    const worker = new Worker(
      `const { toSevenBit } = await import(${JSON.stringify(new URL('./seven-bit.ts', import.meta.url).href)})
      const { parentPort } = await import('node:worker_threads')
      const raw = Buffer.alloc(25 * 2 ** 20, '--x\\r\\n')
      raw.write('Content-Type: multipart/mixed; boundary=x\\r\\n\\r\\n\\xfc\\r\\n', 'latin1')
      const pieces = []
      let reason
      try { for (const piece of toSevenBit(raw)) pieces.push(piece) } catch (error) { reason = error.reason }
      parentPort.postMessage(reason)`,
      { eval: true, resourceLimits: { maxOldGenerationSizeMb: 32 } },
    )
    const [answer] = await once(worker, 'message')
    await worker.terminate()
    expect(answer).toBe('structure')
  })

  test.each<[reason: string, string, string]>([
    [
      'signed',
      'a signed part',
      MIME +
        multipart('multipart/signed; micalg=sha256', [plain, 'Content-Type: application/pgp-signature\r\n\r\nsig']),
    ],
    [
      'signed',
      'a signed part in a part',
      MIME + multipart('multipart/mixed', [multipart('multipart/signed', [plain], 's')]),
    ],
    ['address', 'an address beyond ASCII', `${HEAD}To: ${utf8('zoë')}@example.net\r\n\r\nx\r\n`],
    [
      'address',
      'an address beyond ASCII in an attached message',
      MIME +
        multipart('multipart/mixed', [`Content-Type: message/rfc822\r\n\r\nTo: ${utf8('zoë')}@example.net\r\n\r\nx`]),
    ],
    ['structure', 'a multipart without a boundary', `${MIME}Content-Type: multipart/mixed\r\n\r\n\xe9\r\n`],
    ['structure', 'an encoding of its own', `${MIME}${TEXT}Content-Transfer-Encoding: x-uuencode\r\n\r\n\xe9\r\n`],
    [
      'structure',
      'a report in octets that reports have not',
      MIME + multipart('multipart/report', ['Content-Type: message/delivery-status\r\n\r\nX: \xe9']),
    ],
    ['structure', 'a part whose header is none', MIME + multipart('multipart/mixed', ['\xe9\r\n\r\nx'])],
    [
      'structure',
      '12 levels',
      Array.from({ length: 12 }, (_, i) => `b${i}`)
        .reduceRight((inner, b) => multipart('multipart/mixed', [inner], b), plain)
        .replace(/^/, MIME),
    ],
    ['structure', '1,001 parts beyond ASCII', MIME + multipart('multipart/mixed', Array(1001).fill(plain))],
    ['structure', 'a million empty parts', MIME + multipart('multipart/mixed', ['\xe9', '--b\r\n'.repeat(1_000_000)])],
    [
      'structure',
      '1,200 parts on several levels',
      MIME +
        multipart('multipart/mixed', [
          multipart('multipart/mixed', ['\r\n\xe9', ...Array(600).fill('')], 'q'),
          multipart('multipart/mixed', ['\r\n\xe9', ...Array(600).fill('')], 'r'),
        ]),
    ],
    [
      'structure',
      '10,001 lines that only begin like a boundary',
      MIME + multipart('multipart/mixed', [`\r\n\xe9\r\n${'--bb\r\n'.repeat(10_001)}`]),
    ],
    [
      'structure',
      '201 fields beyond ASCII, over all parts',
      MIME + multipart('multipart/mixed', Array(3).fill(`${'X: \xfc\r\n'.repeat(67)}\r\nx`)),
    ],
    [
      'structure',
      'a boundary that does not occur',
      `${MIME}Content-Type: multipart/mixed; boundary=c\r\n\r\n--b\r\n\r\n\xe9\r\n--b--\r\n`,
    ],
    [
      'structure',
      'a part with two types',
      MIME + multipart('multipart/mixed', [`Content-Type: multipart/signed; boundary=q\r\n${plain}`]),
    ],
    ...['multipart/signed (PGP)', '(x) multipart/signed', 'Multipart / (a (b)\\)) Signed', 'multipart/signed (")'].map(
      (type): [string, string, string] => [
        'signed',
        `the type ${type}`,
        MIME + multipart(type, [plain, 'Content-Type: application/pgp-signature\r\n\r\nsig']),
      ],
    ),
    [
      'structure',
      'a broken part of more than a megabyte',
      `${MIME}${TEXT}Content-Transfer-Encoding: base64\r\n\r\n${'\xe9aaa\r\n'.repeat(180_000)}`,
    ],
  ])('not converted (%s): %s', (error, _, message) => {
    expect(convert(message)).toBe(error)
  })
})

test('whatever is converted is converted already', () => {
  const message = MIME + multipart('multipart/mixed', [`${TEXT}\r\n${utf8('é')}\r\n`, 'Content-Type: a/b\r\n\r\n\xff'])
  const once = convert(message)
  expect(once).toMatch(/^[\t\r\n -~]*$/)
  expect(convert(once)).toBe(once)
})

test.each([
  [
    'the charset of a large text',
    `${MIME}Content-Type: text/plain\r\n\r\n${`${'\xfc\xfc'.repeat(400)}\r\n`.repeat(2_000)}`,
  ],
  ['a large file', `${MIME}Content-Type: a/b\r\n\r\n${`${'\xfc\xfc'.repeat(400)}\r\n`.repeat(2_000)}`],
])('conversion comes in pieces: %s', (_, message) => {
  const sizes = Array.from(toSevenBit(latin1(message)), piece => piece.length)
  expect(sizes.length).toBeGreaterThan(20)
  expect(Math.max(...sizes)).toBeLessThan(100_000)
})
