import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BOM, CsvError, csvLine, csvRows, type Separator, separatorLine } from './csv.ts'

/** The rows, or where it is no CSV. */
function parse(text: string, separator?: Separator): string[][] | [number, number] {
  try {
    return [...csvRows(text, separator)]
  } catch (error) {
    if (error instanceof CsvError) return [error.row, error.column]
    throw error
  }
}

describe('a file', () => {
  test.each<[string, string, string[][] | [number, number]]>([
    ['nothing', '', []],
    ['one cell', 'a', [['a']]],
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
    ['a quote that is not closed', '"a', [1, 1]],
    ['a quote closed by another one', '"a""', [1, 1]],
    ['a quote inside of a plain cell', 'x\nb,a"b"', [2, 2]],
    ['text behind a quoted cell', '"a"b', [1, 1]],
    ['a carriage return alone', 'a\rb', [1, 1]],
  ])('%s', (_, text, rows) => {
    expect(parse(text)).toEqual(rows)
  })

  test.each([
    ['a huge quoted cell', `"${'x'.repeat(8_000_000)}"`, 8_000_000],
    ['a huge cell of quotes', `"${'""'.repeat(2_000_000)}"`, 2_000_000],
    ['a huge plain cell', 'x'.repeat(8_000_000), 8_000_000],
  ])('%s is a cell', (_, text, length) => {
    expect([...csvRows(text)][0]?.[0]?.length).toBe(length)
  })

  test('a huge quote that is never closed is no file', () => {
    expect(parse(`"${'x'.repeat(8_000_000)}`)).toEqual([1, 1])
  })

  test.each<[Separator, string, string[]]>([
    [',', 'a;b,c\td', ['a;b', 'c\td']],
    [';', 'a;b,c\td', ['a', 'b,c\td']],
    ['\t', 'a;b,c\td', ['a;b,c', 'd']],
    [';', '"a;b";"c""d"', ['a;b', 'c"d']],
    ['\t', '"a\tb"\t', ['a\tb', '']],
  ])('separated by %j: %j', (separator, text, row) => {
    expect(parse(text, separator)).toEqual([row])
  })

  test.each<[string, ReturnType<typeof separatorLine>]>([
    ['sep=;\r\na', { separator: ';', length: 7 }],
    ['SEP=,\na', { separator: ',', length: 6 }],
    ['"sep=\t"\na', { separator: '\t', length: 8 }],
    ['sep=;', { separator: ';', length: 5 }],
    ['sep=|\n', undefined],
    ['sep=;x\n', undefined],
    ['user_id,plan_id', undefined],
    ['', undefined],
  ])('%j names its separator: %j', (text, expected) => {
    expect(separatorLine(text)).toEqual(expected)
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
        const read = parse(text)
        expect(read).toEqual(
          rows.map(row => row.map(known => (/^[=+\-@\t\r\n＝＋－＠]/.test(known) ? `'${known}` : known))),
        )
      }),
    )
  })
})
