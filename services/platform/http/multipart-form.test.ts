import { describe, expect, test } from 'vitest'
import { turnsDuring } from '../../../test/support/time/event-loop-turns.ts'
import { ProblemError } from '../problems.ts'
import { filesOfForm, parameterOf } from './multipart-form.ts'

const TYPE = 'multipart/form-data; boundary=b'
const PLAIN = 'Content-Disposition: form-data; name="note"'
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
const part = (headers: string, content = '') => `--b\r\n${headers}\r\n\r\n${content}\r\n`

/** The contents of the files, or the code of the refusal and its reason. */
async function read(body: string | Buffer, type = TYPE): Promise<string[] | string> {
  try {
    const files = await filesOfForm(Buffer.from(body as string), type)
    return files.map(file => `${file.type} ${file.bytes}`.trim())
  } catch (error) {
    if (error instanceof ProblemError) return `${error.code} ${error.message}`
    throw error
  }
}

describe('a form', () => {
  test.each<[string, string, string[]]>([
    ['of nothing', '--b--', []],
    ['of fields', `${part(PLAIN, 'a')}${part(PLAIN)}--b--\r\n`, []],
    ['of a file', `${part(FILE, 'x')}--b--\r\n`, ['x']],
    ['of an empty file', `${part(FILE)}--b--`, ['']],
    [
      'of a file with a type',
      `${part(`${FILE}\r\nContent-Type: text/csv; charset=gbk`, 'x')}--b--`,
      ['text/csv; charset=gbk x'],
    ],
    ['of two files and a field', `${part(FILE, 'x')}${part(PLAIN)}${part(FILE, 'y')}--b--`, ['x', 'y']],
    ['with line ends and dashes in a file', `${part(FILE, '\r\n--\r\n--a\r\n')}--b--`, ['--\r\n--a']],
    ['with a preamble, an epilogue and padding', `hello\r\n--b \t\r\n${FILE}\r\n\r\nx\r\n--b-- \r\nbye`, ['x']],
    ['with headers in another case', `${part(FILE.toUpperCase(), 'x')}--b--`, ['x']],
    [
      'with an encoded file name',
      `${part("Content-Disposition: form-data; name=file; filename*=utf-8''a", 'x')}--b--`,
      ['x'],
    ],
    [
      'with a field that is called like a file',
      `${part('Content-Disposition: form-data; name="; filename=x"', 'x')}--b--`,
      [],
    ],
    ['of a hundred parts', `${part(PLAIN).repeat(99)}${part(FILE, 'x')}--b--`, ['x']],
    ['of a file with binary encoding', `${part(`${FILE}\r\nContent-Transfer-Encoding: binary`, 'x')}--b--`, ['x']],
  ])('%s', async (_, body, files) => {
    expect(await read(body)).toEqual(files)
  })

  test.each<[string, string, string]>([
    ['of nothing', '', 'boundary is missing'],
    ['of 400,000 empty fields', `${part(PLAIN).repeat(400_000)}--b--`, 'more than 100 fields'],
    ['of a hundred and one', `${part(PLAIN).repeat(101)}--b--`, 'more than 100 fields'],
    ['that is cut in its content', part(FILE, 'x').trimEnd(), 'boundary is missing'],
    ['that is cut after a delimiter', `${part(FILE, 'x')}--b`, 'no valid headers'],
    ['with another boundary', `${part(FILE, 'x')}--b--`.replaceAll('--b', '--c'), 'boundary is missing'],
    ['with a longer boundary', `${part(FILE, 'x')}--b--`.replaceAll('--b', '--bc'), 'no valid headers'],
    ['with headers without end', `--b\r\n${'a: b\r\n'.repeat(1_000_000)}`, 'no valid headers'],
    ['with headers of 9 KiB', `${part(`${FILE}\r\nX: ${'x'.repeat(9_000)}`, 'x')}--b--`, 'no valid headers'],
    [
      'of a file in base64',
      `${part(`${FILE}\r\nContent-Transfer-Encoding: base64`, 'eA==')}--b--`,
      'Content-Transfer-Encoding',
    ],
  ])('%s is refused', async (_, body, reason) => {
    expect(await read(body)).toMatch(new RegExp(`^invalid_request The form cannot be read: .*${reason}`))
  })

  test.each(['multipart/form-data', 'multipart/form-data; boundary=""', `${TYPE}${'b'.repeat(70)}`])(
    'with the Content-Type %s is refused',
    async type => {
      expect(await read(`${part(FILE, 'x')}--b--`, type)).toMatch(/no valid boundary/)
    },
  )

  test('is read as Node writes it, with any bytes in its file', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, n) => (n * 7) % 256))
    const form = new FormData()
    form.set('note', '中文')
    form.set('file', new File([bytes], 'a "quoted" 表.csv', { type: 'text/csv' }))
    const encoded = new Response(form)
    const type = encoded.headers.get('content-type') ?? ''
    const [file] = await filesOfForm(Buffer.from(await encoded.arrayBuffer()), type)
    expect([file?.type, file?.bytes.equals(bytes)]).toEqual(['text/csv', true])
  })

  test('leaves others their turn while it is searched', async () => {
    const large = `${part(FILE, 'x'.repeat(8 * 1024 * 1024))}--b--`
    expect(await turnsDuring(() => read(large))).toBeGreaterThanOrEqual(8)
  })
})

test.each([
  ['text/csv; charset=GBK', 'charset', 'GBK'],
  ['text/csv; charset="utf-8"', 'charset', 'utf-8'],
  ['text/csv; x="; charset=a"; charset=b', 'charset', 'b'],
  ['text/csv', 'charset', ''],
  ['nonsense', 'charset', ''],
  ['', 'boundary', ''],
])('of %j the parameter %s is %j', (type, name, value) => {
  expect(parameterOf(type, name)).toBe(value)
})
