import { describe, expect, test } from 'vitest'
import { charsetOf, unlabelledDecoder } from './charset.ts'

const NOTHING = new Uint8Array()
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
/** 你好 in GBK, Grüße in Latin-1. */
const NIHAO = hex('c4e3 bac3')
const GRUESSE = Buffer.from('Grüße', 'latin1')

describe('octets without a label', () => {
  test.each<[name: string, octets: Uint8Array, declared: string | undefined, expected: string]>([
    ['ASCII', Buffer.from('hello'), undefined, 'hello'],
    ['UTF-8', Buffer.from('Grüße 你好 🎉'), undefined, 'Grüße 你好 🎉'],
    ['UTF-8 under a wrong label, as PHP scripts have it', Buffer.from('Grüße'), 'iso-8859-1', 'Grüße'],
    ['UTF-8 under a Chinese label', Buffer.from('你好'), 'gb2312', '你好'],
    ['Latin-1', GRUESSE, undefined, 'Grüße'],
    ['Latin-1 with a label', GRUESSE, 'iso-8859-1', 'Grüße'],
    ['Latin-1 under the label UTF-8', GRUESSE, 'UTF-8', 'Grüße'],
    ['Latin-1 under an unknown label', GRUESSE, 'x-none', 'Grüße'],
    ['Latin-1 in capitals', Buffer.from('ÄÖÜ ÉTÉ', 'latin1'), undefined, 'ÄÖÜ ÉTÉ'],
    ['French', Buffer.from('Déjà réglé : l été à Orléans', 'latin1'), undefined, 'Déjà réglé : l été à Orléans'],
    ['windows-1252 with its quotes', hex('93 67 75 74 94 20 80 35'), undefined, '“gut” €5'],
    ['GBK', NIHAO, undefined, '你好'],
    ['GBK with its punctuation', hex('c4fa bac3 a3ac bbb6 d3ad a3a1'), undefined, '您好，欢迎！'],
    ['GBK beside ASCII', Buffer.concat([Buffer.from('Re: '), NIHAO, Buffer.from(' (2)')]), undefined, 'Re: 你好 (2)'],
    ['GB 18030 with four octets', Buffer.concat([NIHAO, hex('8130 8130')]), undefined, '你好\u0080'],
    ['Big5 with a label', hex('a741 a66e'), 'big5', '你好'],
    ['KOI8-R with a label', hex('f0d2c9d7c5d4'), 'koi8-r', 'Привет'],
    ['GBK that is valid UTF-8 by accident, with a label', hex('c4a3 cab9'), 'gbk', '模使'],
    ['a western word in UTF-8 under a Chinese label', Buffer.from('Grüße'), 'gb2312', 'Grüße'],
    ['a Polish word in UTF-8 under a Chinese label', Buffer.from('z Łodzi'), 'gbk', 'z Łodzi'],
    [
      'GBK beside capitals that is valid UTF-8 by accident',
      Buffer.concat([Buffer.from('VIP'), hex('c4a3 cab9')]),
      'gbk',
      'VIP模使',
    ],
    ['octets that the label does not allow', Buffer.concat([NIHAO, hex('ff')]), 'gbk', 'ÄãºÃÿ'],
  ])('%s', (_, octets, declared, expected) => {
    expect(unlabelledDecoder(NOTHING, NOTHING, declared)(octets)).toBe(expected)
  })

  test('the rest of the message helps with what is rare or short', () => {
    const rare = hex('f6c9') // a name of one character beyond GB 2312 level 1
    const chinese = new TextDecoder('gb18030').decode(rare)
    expect(unlabelledDecoder(NOTHING, NOTHING, undefined)(rare)).toBe('öÉ')
    expect(unlabelledDecoder(Buffer.concat([rare, NIHAO, NIHAO]), NOTHING, undefined)(rare)).toBe(chinese)
    expect(unlabelledDecoder(NOTHING, NIHAO, undefined)(rare)).toBe(chinese)
    expect(unlabelledDecoder(NOTHING, Buffer.from('你好'), undefined)(rare)).toBe('öÉ')
  })

  test('what the first field was found to be holds for the others', () => {
    const decode = unlabelledDecoder(NOTHING, NOTHING, undefined)
    expect([decode(NIHAO), decode(hex('f6c9'))]).toEqual(['你好', new TextDecoder('gb18030').decode(hex('f6c9'))])
  })

  test.each([
    [Buffer.from('Grüße'), 'utf-8'],
    [GRUESSE, 'windows-1252'],
    [NIHAO, 'gb18030'],
    [Buffer.concat([Buffer.alloc(200_000, 'a'), Buffer.alloc(400_000, NIHAO)]), 'gb18030'],
    [Buffer.concat([Buffer.alloc(65_537, NIHAO), hex('ff')]), 'gb18030'],
    [Buffer.concat([NIHAO, hex('ff')]), 'windows-1252'],
    [Buffer.alloc(25 * 2 ** 20, 0xfc), 'windows-1252'],
    [Buffer.concat([NIHAO, NIHAO, hex('8130 8141')]), 'windows-1252'],
  ] as const)('the name of octets is found: %#', (octets, expected) => {
    expect(charsetOf(octets)).toBe(expected)
  })
})
