import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BOM, csvLine, parseCsv } from './csv.ts'

describe('a file', () => {
  test.each<[string, string, string[][] | undefined]>([
    ['nothing', '', []],
    ['a mark alone', BOM, []],
    ['one cell', 'a', [['a']]],
    [
      'a mark before the heading',
      `${BOM}a,b\r\n1,2`,
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['line ends of both kinds', 'a\nb\r\nc\n', [['a'], ['b'], ['c']]],
    [
      'empty cells',
      ',a,\n,,\n',
      [
        ['', 'a', ''],
        ['', '', ''],
      ],
    ],
    ['a comma at the very end', 'a,', [['a', '']]],
    ['empty lines between and behind', 'a\n\n\r\nb\n\n', [['a'], [''], [''], ['b'], ['']]],
    ['quotes', '"a,b","c""d","e\nf"', [['a,b', 'c"d', 'e\nf']]],
    ['an empty quoted cell', '"",""\n', [['', '']]],
    ['a quoted quote alone', '""""', [['"']]],
    ['a quote that is not closed', '"a', undefined],
    ['a quote closed by another one', '"a""', undefined],
    ['a quote inside of a plain cell', 'a"b"', undefined],
    ['text behind a quoted cell', '"a"b', undefined],
    ['a carriage return alone', 'a\rb', undefined],
  ])('%s', (_, text, rows) => {
    expect(parseCsv(text)).toEqual(rows)
  })

  test.each([
    ['a huge quoted cell', `"${'x'.repeat(8_000_000)}"`, 8_000_000],
    ['a huge cell of quotes', `"${'""'.repeat(2_000_000)}"`, 2_000_000],
    ['a huge plain cell', 'x'.repeat(8_000_000), 8_000_000],
  ])('%s is a cell', (_, text, length) => {
    expect(parseCsv(text)?.[0]?.[0]?.length).toBe(length)
  })

  test('a huge quote that is never closed is no file', () => {
    expect(parseCsv(`"${'x'.repeat(8_000_000)}`)).toBeUndefined()
  })

  test.each([
    ['=1+1', "'=1+1"],
    ['＝1+1', "'＝1+1"],
    ['＋86', "'＋86"],
    ['－1', "'－1"],
    ['＠SUM(1,1)', `"'＠SUM(1,1)"`],
    ['\n=1+1', `"'\n=1+1"`],
    ['a=1', 'a=1'],
    ['（1）', '（1）'],
  ])('no spreadsheet runs %j', (cell, written) => {
    expect(csvLine([cell])).toBe(`${written}\r\n`)
  })

  test('that was written is read as it was, whatever stands in it, but for the mark of formulas', () => {
    const cell = fc.string({ unit: 'binary' }).map(text => text.replaceAll('\r', '').replace(BOM, ''))
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 }), rows => {
        const text = rows.map(csvLine).join('')
        const read = parseCsv(BOM + text)
        expect(read).toEqual(
          rows.map(row => row.map(known => (/^[=+\-@\t\r\n＝＋－＠]/.test(known) ? `'${known}` : known))),
        )
      }),
    )
  })
})
