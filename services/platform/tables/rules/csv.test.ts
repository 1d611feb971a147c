import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BOM, CsvError, type CsvRule, csvLine, csvRows, ROW_LIMITS, type Separator, separatorLine } from './csv.ts'

type Place = [rule: CsvRule, row: number, column: number]

/** The rows, or where it is no CSV. */
function parse(text: string, separator?: Separator): string[][] | Place {
  try {
    return [...csvRows(text, separator)]
  } catch (error) {
    if (error instanceof CsvError) return [error.rule, error.row, error.column]
    throw error
  }
}

describe('a file', () => {
  test.each<[string, string, string[][] | Place]>([
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
    ['empty lines between and after', 'a\n\n\r\nb\n\n', [['a'], [''], [''], ['b'], ['']]],
    ['quotes', '"a,b","c""d","e\nf"', [['a,b', 'c"d', 'e\nf']]],
    ['an empty quoted cell', '"",""\n', [['', '']]],
    ['a quoted quote alone', '""""', [['"']]],
    ['a quote that is not closed', '"a', ['quote', 1, 1]],
    ['a quote closed by another one', '"a""', ['quote', 1, 1]],
    ['a quote inside of a plain cell', 'x\nb,a"b"', ['quote', 2, 2]],
    ['text after a quoted cell', '"a"b', ['quote', 1, 1]],
    ['line ends of old spreadsheets', 'a,b\r"c\rd"\r\re', [['a', 'b'], ['c\rd'], [''], ['e']]],
    ['line ends of all kinds', 'a\rb\nc\r\n\rd', [['a'], ['b'], ['c'], [''], ['d']]],
  ])('%s', (_, text, rows) => {
    expect(parse(text)).toEqual(rows)
  })

  const { cells, chars } = ROW_LIMITS
  test.each<[string, string]>([
    ['cells', ','.repeat(cells - 1)],
    ['characters of a plain cell', 'x'.repeat(chars)],
    ['characters of a quoted cell', `"${'x'.repeat(chars - 2)}"`],
    ['quotes', `"${'""'.repeat(chars / 2 - 1)}"`],
    ['characters of several cells', `${'x'.repeat(chars / 2)},${'y'.repeat(chars / 2 - 1)}`],
  ])('a row may have as many %s as the limit, and no more', (_, row) => {
    const rule = row.startsWith(',') ? 'row_cells' : 'row_length'
    const longer = row.startsWith('"') ? row.replace('"', '"xx') : `${row},`
    for (const end of ['', '\n', '\r\nb', '\rb']) {
      expect([...csvRows(`a\n${row}${end}`)]).toHaveLength(end.endsWith('b') ? 3 : 2)
      expect(parse(`a\n${longer}${end}`)).toMatchObject([rule, 2, expect.any(Number)])
    }
  })

  test('a row beyond the limits is left where they end', () => {
    expect(parse(`"${'x'.repeat(8_000_000)}`)).toEqual(['quote', 1, 1])
    expect(parse(`"${'""'.repeat(4_000_000)}`)).toEqual(['row_length', 1, 1])
    expect(parse(`a\n${'x'.repeat(8_000_000)}`)).toEqual(['row_length', 2, 1])
    expect(parse(`${'x,'.repeat(4_000_000)}`)).toEqual(['row_cells', 1, cells + 1])
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
    ['sep=;\ra', { separator: ';', length: 6 }],
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

  test('any written text reads back unchanged, except for the formula mark', () => {
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
