import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { systemActor } from '../context.ts'
import { importSubscriptions, type RowError } from './import-subscriptions.ts'
import { refundSubscription } from './refund.ts'

const DAY = 86_400
const HEADING = 'user_id,plan_id,days,client_ref'

/** An app with two users, a plan of 30 days and one for ever, and what an import of rows comes to. */
async function shop(closing?: (close: () => Promise<void>) => void) {
  const half = await openSubscriptionsModule({}, closing)
  const { context, giveApp, giveUser, givePlan } = half
  await giveApp('shop')
  const [ann, bob] = [await giveUser('shop', 'ann'), await giveUser('shop', 'bob')]
  const [month, ever] = [await givePlan('shop'), await givePlan('shop', { duration: 0 })]
  const send = (file: string | Buffer, more: { dryRun?: boolean; lang?: 'zh' | 'en'; charset?: string } = {}) => {
    const { charset = '', ...rest } = more
    const upload = { bytes: Buffer.from(file as string), charset }
    return importSubscriptions(context, systemActor, {
      appKey: 'shop',
      file: upload,
      dryRun: false,
      lang: 'en',
      ...rest,
    })
  }
  const rows = (...lines: string[]) => send([HEADING, ...lines].join('\n'))
  const errors = async (...lines: string[]) =>
    (await rows(...lines)).errors.map(({ row, field, rule }) => `${row} ${field} ${rule}`)
  const subscriptions = () => context.collections.subscriptions.find().sort({ created_at: 1, _id: 1 }).toArray()
  return { ...half, ann, bob, month, ever, send, rows, errors, subscriptions }
}

/** For rows that are refused, which leave it as it is. */
let empty: Awaited<ReturnType<typeof shop>>
let close: () => Promise<void>
beforeAll(async () => {
  empty = await shop(stop => {
    close = stop
  })
})
afterAll(() => close())

const ALL = ['1 user_id required', '1 plan_id required', '1 client_ref required']
const shownOf = (errors: readonly RowError[]) =>
  errors.map(({ row, column, field, rule }) => `${row}${column ? `:${column}` : ''} ${field} ${rule}`)

describe('what a row grants', () => {
  test.each([
    ['of its own days', '7', 7 * DAY],
    ['of the days of the plan, where it is silent', '', 30 * DAY],
    ['of one day', '1', DAY],
    ['of a hundred years', '36500', 36_500 * DAY],
    ['for ever', '0', 0],
  ])('is a period %s', async (_, days, length) => {
    const { ann, month, rows, subscriptions, context } = await shop()
    const done = { total: 1, imported: 1, repeated: 0, skipped: 0, dry_run: false, errors: [] }
    expect(await rows(`${ann._id},${month._id},${days},a`)).toEqual({ ...done, encoding: 'utf-8', separator: ',' })
    const [granted] = await subscriptions()
    expect(granted).toMatchObject({ user_id: ann._id, payment_method: 'manual', paid_cents: 0, status: 1 })
    expect(granted?.end === 0 ? 0 : (granted?.end ?? 0) - (granted?.start ?? 0)).toBe(length)
    expect(await context.collections.payments.findOne({})).toMatchObject({ client_key: 'shop/a', amount_cents: 0 })
  })

  test('adds to the period that the user has, and rows for the same user add up', async () => {
    const { ann, month, rows, pay, subscriptions } = await shop()
    const { start } = await pay(ann, month)
    await rows(`${ann._id},${month._id},5,a`, `${ann._id},${month._id},6,b`)
    const [only, ...others] = await subscriptions()
    expect([others.length, (only?.end ?? 0) - start]).toEqual([0, 41 * DAY])
  })
})

describe('a file', () => {
  test.each<[string, string | Buffer, string[]]>([
    ['of nothing', '', ALL],
    ['of a mark alone', '\uFEFF', ALL],
    ['of empty lines', '\n,,\n', ALL],
    ['without a heading', '1,1,30,a', ALL],
    ['whose heading lacks user_id', 'plan_id,client_ref\n1,a', ['1 user_id required']],
    ['whose heading lacks plan_id', 'user_id,client_ref\n1,a', ['1 plan_id required']],
    ['whose heading lacks client_ref', 'user_id,plan_id\n1,1', ['1 client_ref required']],
    ['whose heading has a column twice', `${HEADING},Days\n1,1,1,a,2`, ['1 days unique']],
    ['whose quote is never closed', `${HEADING}\n\n"1,1,30,a`, ['3:1  quote']],
    ['with a quote inside of a cell', `${HEADING}\n1,1"",30,a`, ['2:2  quote']],
    ['that is a workbook', Buffer.from('504b030414000600', 'hex'), ['1 file spreadsheet']],
    ['that is an old workbook', Buffer.from('d0cf11e0a1b11ae100', 'hex'), ['1 file spreadsheet']],
  ])('%s is refused with its errors', async (_, file, expected) => {
    const { send, subscriptions } = empty
    const { imported, errors } = await send(file)
    expect([imported, shownOf(errors)]).toEqual([0, expected])
    expect(await subscriptions()).toEqual([])
  })

  test('of a heading alone grants nothing', async () => {
    const { send } = empty
    expect(await send(`${HEADING}\n`)).toMatchObject({ total: 0, imported: 0, dry_run: false, errors: [] })
  })

  test('may have its columns in any order, and others beside them, also such as are called __proto__', async () => {
    const { ann, month, send, subscriptions } = await shop()
    const file = `__proto__,client_ref,constructor,plan_id,user_id\r\nx,"a,1",y,${month._id},${ann._id}\r\n`
    expect(await send(file)).toMatchObject({ imported: 1, errors: [] })
    expect((await subscriptions()).map(({ user_id, start, end }) => [user_id, end - start])).toEqual([
      [ann._id, 30 * DAY],
    ])
  })

  test('that is only checked grants nothing, right or wrong', async () => {
    const { ann, month, send, subscriptions } = empty
    const right = `${HEADING}\n${ann._id},${month._id},,a`
    expect(await send(right, { dryRun: true })).toMatchObject({ total: 1, imported: 0, dry_run: true, errors: [] })
    expect(await send(`${right}\n0,0,,b`, { dryRun: true })).toMatchObject({ total: 2, imported: 0, dry_run: true })
    expect(await subscriptions()).toEqual([])
  })
})

describe('a file without bounds', () => {
  const damaged = (cells: number) => Buffer.from('\xff,'.repeat(cells), 'latin1')
  const below = (row: string | Buffer) => Buffer.concat([Buffer.from(`${HEADING}\n`), Buffer.from(row as string)])
  test.each<[string, string | Buffer, string[]]>([
    ['a heading of 60,000 damaged cells', damaged(60_000), ['1:101  row_cells']],
    ['a heading of 400,000 damaged cells', damaged(400_000), ['1:101  row_cells']],
    ['a heading of a hundred damaged cells', damaged(99), ['1:1  encoding', ...ALL]],
    ['a row of damaged cells', below(damaged(4)), ['2:1 user_id encoding']],
    ['a row of too many cells', below(','.repeat(100)), ['2:101  row_cells']],
    ['a heading without end', 'user_id,'.repeat(500_000), ['1:101  row_cells']],
    ['a cell without end', below('x'.repeat(8_000_000)), ['2:1  row_length']],
    ['quotes without end', `sep=,\n${'"'.repeat(8_000_000)}`, ['2:1  row_length']],
  ])('is left at %s', async (_, file, expected) => {
    const { imported, errors } = await empty.send(file, { dryRun: true })
    expect([imported, shownOf(errors)]).toEqual([0, expected])
  })

  test('has one error for each of fifty damaged rows', async () => {
    const { total, errors } = await empty.send(below(damaged(4).toString('latin1').concat('\n').repeat(60)), {})
    expect([total, errors.length]).toEqual([60, 50])
  })

  test.each<['zh' | 'en', RegExp]>([
    ['en', /^is in a row with more than 100 cells$/],
    ['zh', /^该行超过 100 个单元格$/],
  ])('is refused with a sentence in %s', async (lang, sentence) => {
    const { errors } = await empty.send(damaged(60_000), { lang })
    expect(errors[0]?.message).toMatch(sentence)
  })

  test.each<[string, string]>([
    ['a heading of 5,000 characters', `user_id;plan_id;${'x'.repeat(5_000)};client_ref`],
    ['a quoted heading with commas and line ends', 'user_id;"a,b,c,d\n,,,";plan_id;client_ref'],
    ['lines without a separator before it', '\n\nuser_id;plan_id;client_ref'],
  ])('has its separator found in %s', async (_, heading) => {
    expect(await empty.send(`${heading}\n`)).toMatchObject({ separator: ';', errors: [] })
  })
})

describe('a row with more cells than the heading', () => {
  test.each<[string, string, string[]]>([
    ['is refused where a separator without quotes moved its cells', '1,5,order,7', ['2:4  surplus']],
    ['is refused for a filled one after empty ones', '1,5,order,, ,x', ['2:6  surplus']],
  ])('%s', async (_, row, expected) => {
    const { errors } = await empty.send(`user_id,plan_id,client_ref\n${row}`)
    expect(shownOf(errors)).toEqual(expected)
  })

  test('is imported where they are empty, or below an empty heading', async () => {
    const { ann, month, send } = await shop()
    const row = (ref: string) => `${ann._id},${month._id},1,${ref}`
    expect(await send(`${HEADING}\n${row('a')},,  ,\n`)).toMatchObject({ imported: 1, errors: [] })
    expect(await send(`${HEADING},\n${row('b')},a note\n`)).toMatchObject({ imported: 1, errors: [] })
  })
})

test('the lines of a file may end with CR alone', async () => {
  const { ann, bob, month, send } = await shop()
  const file = [HEADING, `${ann._id},${month._id},1,a`, `${bob._id},${month._id},1,b`, ''].join('\r')
  expect(await send(file)).toMatchObject({ total: 2, imported: 2, separator: ',', errors: [] })
})

describe('how a file is written', () => {
  const references = ['订单-1', '订单-2', '測試-3']
  const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()
  // 订单-1, 订单-2 and 測試-3 in GB18030.
  const gb = ['b6a9b5a5', 'b6a9b5a5', '9c79d487'].map((hex, n) =>
    Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(`-${n + 1}`)]),
  )
  const encode: [string, (text: string) => Buffer, string, string][] = [
    ['UTF-8', text => Buffer.from(text), '', 'utf-8'],
    ['UTF-8 with a mark', text => Buffer.from(`\uFEFF${text}`), '', 'utf-8'],
    ['UTF-8 by its name', text => Buffer.from(text), 'UTF-8', 'utf-8'],
    [
      'UTF-16 with a mark, as spreadsheets write "Unicode text"',
      text => Buffer.from(`\uFEFF${text}`, 'utf16le'),
      '',
      'utf-16le',
    ],
    [
      'UTF-16 with a mark and without its order in the name',
      text => Buffer.from(`\uFEFF${text}`, 'utf16le'),
      'utf-16',
      'utf-16le',
    ],
    ['UTF-16 without a mark', text => Buffer.from(text, 'utf16le'), '', 'utf-16le'],
    ['UTF-16, the high byte first, with a mark', text => utf16be(`\uFEFF${text}`), '', 'utf-16be'],
    ['UTF-16, the high byte first, without a mark', text => utf16be(text), '', 'utf-16be'],
    ['GB18030', text => inGb(text), '', 'gb18030'],
    ['GBK by its name', text => inGb(text), 'gbk', 'gb18030'],
  ]
  /** ASCII and the references in GB18030, which Node can only read. */
  const inGb = (text: string) =>
    Buffer.concat(
      text
        .split(new RegExp(`(${references.join('|')})`))
        .map(part => gb[references.indexOf(part)] ?? Buffer.from(part, 'latin1')),
    )
  const cases = encode.flatMap(([name, write, charset, encoding]) =>
    [',', ';', '\t'].map(separator => [name, separator, write, charset, encoding] as const),
  )

  test.each(cases)('%s, separated by %j, is read without loss', async (_, separator, write, charset, encoding) => {
    const { ann, month, send, context } = await shop()
    const lines = references.map(reference => [ann._id, month._id, 1, reference])
    const table = [HEADING.split(','), ...lines].map(cells => cells.join(separator)).join('\r\n')
    expect(await send(write(table), { charset })).toMatchObject({ imported: 3, encoding, separator, errors: [] })
    const stored = await context.collections.payments.find().sort({ client_key: 1 }).toArray()
    expect(stored.map(({ client_key }) => client_key).toSorted()).toEqual(
      references.map(name => `shop/${name}`).toSorted(),
    )
  })

  test('a first line `sep=` sets the separator and counts as a row', async () => {
    const { ann, month, send } = await shop()
    const heading = 'client_ref;user_id;plan_id;"a,b,c,d,e,f"'
    const right = `sep=;\r\n${heading}\r\na;${ann._id};${month._id};x`
    expect(await send(right)).toMatchObject({ imported: 1, separator: ';' })
    const { errors } = await send(`${right}\r\nb;0;${month._id};x`)
    expect(errors.map(({ row, field }) => [row, field])).toEqual([[4, 'user_id']])
  })

  test.each([
    'USER_ID,Plan_Id,DAYS,Client_Ref',
    ' user_id , plan_id,days ,client_ref',
    '"User_ID","PLAN_ID","Days","CLIENT_REF"',
  ])('the heading %j is understood', async heading => {
    const { ann, month, send, subscriptions } = await shop()
    expect(await send(`${heading}\n${ann._id},${month._id},3,a`)).toMatchObject({ imported: 1 })
    expect((await subscriptions()).map(({ start, end }) => end - start)).toEqual([3 * DAY])
  })

  test.each<[string, Buffer, string, string[]]>([
    ['one byte of Latin-1', Buffer.from('2,2,,caf\xe9,\n', 'latin1'), '', ['2:4 client_ref encoding']],
    [
      'Latin-1 whose bytes are unused characters',
      Buffer.from('2,2,,Gr\xfc\xdfe', 'latin1'),
      '',
      ['2:4 client_ref encoding'],
    ],
    [
      'UTF-8 with a byte in between',
      Buffer.concat([Buffer.from('2,2,,订单'), Buffer.from([0xff]), Buffer.from('一二三')]),
      '',
      ['2:4 client_ref encoding'],
    ],
    ['UTF-8 that is cut', Buffer.from('2,2,,订单一二').subarray(0, -1), '', ['2:4 client_ref encoding']],
    ['other bytes than the charset', Buffer.from('2,2,,caf\xe9s', 'latin1'), 'utf-8', ['2:4 client_ref encoding']],
    ['half of a character of UTF-16', Buffer.from('2,2,,\ud83d', 'utf16le'), 'utf-16le', ['2:4 client_ref encoding']],
    ['bytes in a column that means nothing', Buffer.from('2,2,,a,\xe9,\n', 'latin1'), '', ['2:5  encoding']],
    ['a letter that was lost before', Buffer.from('2,2,,a\uFFFD'), '', ['2:4 client_ref encoding']],
    ['a charset that is not read', Buffer.from('2,2,,a'), 'iso-8859-1', ['1 file charset']],
  ])('%s is refused with its place, and nothing is granted', async (_, row, charset, expected) => {
    const { send, subscriptions } = empty
    const heading = charset === 'utf-16le' ? Buffer.from(`${HEADING}\n`, 'utf16le') : Buffer.from(`${HEADING}\n`)
    const { imported, errors } = await send(Buffer.concat([heading, row]), { charset })
    expect([imported, shownOf(errors)]).toEqual([0, expected])
    expect(await subscriptions()).toEqual([])
  })

  test('references that differ only in bytes that are no UTF-8 stay apart', async () => {
    const { ann, month, send, context } = await shop()
    const line = (byte: number) =>
      Buffer.concat([Buffer.from(`${ann._id},${month._id},1,a`), Buffer.from([0xb0, byte, 10])])
    const file = Buffer.concat([Buffer.from(`${HEADING}\n`), line(0xa1), line(0xa2)])
    expect(await send(file)).toMatchObject({ total: 2, imported: 2, encoding: 'gb18030' })
    expect(await context.collections.payments.countDocuments()).toBe(2)
  })
})

describe('a row that is wrong', () => {
  test.each<[string, (ids: { ann: number; month: number }) => string, string[]]>([
    ['without a user', ({ month }) => `,${month},,a`, ['user_id']],
    ['of a user who is not there', ({ month }) => `987654321,${month},,a`, ['user_id']],
    ['of a plan that is not there', ({ ann }) => `${ann},987654321,,a`, ['plan_id']],
    ['of neither', () => '987654321,987654321,,a', ['user_id', 'plan_id']],
    ['with a number beyond every id', ({ month }) => `9999999999999999,${month},,a`, ['user_id']],
    ['with a number in another notation', ({ month }) => `1e0,${month},,a`, ['user_id']],
    ['with a part of a day', ({ ann, month }) => `${ann},${month},1.5,a`, ['days']],
    ['with fewer days than none', ({ ann, month }) => `${ann},${month},-1,a`, ['days']],
    ['with more than a hundred years', ({ ann, month }) => `${ann},${month},36501,a`, ['days']],
    ['without a reference', ({ ann, month }) => `${ann},${month},30,`, ['client_ref']],
    ['of blanks for a reference', ({ ann, month }) => `${ann},${month},30,"  "`, ['client_ref']],
    ['with a reference that is too long', ({ ann, month }) => `${ann},${month},30,${'r'.repeat(65)}`, ['client_ref']],
    ['that is cut off', ({ ann }) => `${ann}`, ['plan_id', 'client_ref']],
  ])('%s names its fields, and keeps the others from being stored', async (_, wrong, fields) => {
    const { ann, bob, month, rows, subscriptions } = empty
    const ids = { ann: ann._id, month: month._id }
    const { total, imported, errors } = await rows(`${bob._id},${month._id},30,right`, wrong(ids))
    expect([total, imported]).toEqual([2, 0])
    expect(errors.map(({ row, field }) => [row, field])).toEqual(fields.map(field => [3, field]))
    expect(await subscriptions()).toEqual([])
  })

  test('of another app’s user and plan is unknown', async () => {
    const { month, errors, giveApp, giveUser, givePlan, ann } = await shop()
    await giveApp('other')
    const [user, plan] = [await giveUser('other'), await givePlan('other')]
    expect(await errors(`${user._id},${month._id},,a`, `${ann._id},${plan._id},,b`)).toEqual([
      '2 user_id value',
      '3 plan_id value',
    ])
  })

  test('is reported with the line number in the file, empty lines included', async () => {
    const { ann, month, errors, rows } = await shop()
    const right = (ref: string) => `${ann._id},${month._id},,${ref}`
    expect(await errors(right('a'), '', '', `0,${month._id},,b`, '', `${ann._id},0,,c`)).toEqual([
      '5 user_id format',
      '7 plan_id format',
    ])
    const tail = ['', ',,,', ' ; ;', '']
    expect(await rows('', right('a'), '', right('b'), ...tail.slice(0, 2))).toMatchObject({
      ...{ total: 2, imported: 2, skipped: 4 },
    })
  })

  test('has fifty like it at most in the answer', async () => {
    const { rows } = empty
    const { total, errors } = await rows(...Array.from({ length: 300 }, (_, n) => `0,1,30,ref-${n}`))
    expect([total, errors.length, errors.at(-1)?.row]).toEqual([300, 50, 51])
    const several = await rows(...Array.from({ length: 20 }, () => '0,0,x,'))
    expect([several.total, several.errors.length]).toEqual([20, 50])
  })

  test('is reported in the language of the reader', async () => {
    const { send } = empty
    const messages = async (lang: 'zh' | 'en') => (await send(`${HEADING}\n1,1,x,a`, { lang })).errors[0]?.message
    expect(await messages('en')).toMatch(/^[ -~]+$/)
    expect(await messages('zh')).not.toBe(await messages('en'))
  })
})

describe('a second import of a file changes nothing', () => {
  test('also while the first one runs', async () => {
    const { ann, bob, month, rows, subscriptions } = await shop()
    const lines = [`${ann._id},${month._id},5,a`, `${bob._id},${month._id},6,b`, `${ann._id},${month._id},7,c`]
    await Promise.all([rows(...lines), rows(...lines)])
    expect(await rows(...lines)).toMatchObject({ total: 3, imported: 0, repeated: 3, errors: [] })
    const lengths = (await subscriptions()).map(({ user_id, start, end }) => [user_id, (end - start) / DAY])
    expect(new Map(lengths as [number, number][])).toEqual(
      new Map([
        [ann._id, 12],
        [bob._id, 6],
      ]),
    )
  })

  test('also when what it had granted was taken back since', async () => {
    const { context, ann, month, rows, subscriptions } = await shop()
    await rows(`${ann._id},${month._id},5,a`)
    const [granted] = await subscriptions()
    await refundSubscription(context, systemActor, {
      appKey: 'shop',
      subscriptionId: granted?._id ?? 0,
      refundId: 'back',
    })
    expect(await rows(`${ann._id},${month._id},5,a`)).toMatchObject({ imported: 0, repeated: 1, errors: [] })
    expect((await subscriptions()).map(({ status }) => status)).toEqual([4])
  })
})

describe('a row that could not be granted keeps all others from being stored', () => {
  test('a reference that another row uses for another user or plan', async () => {
    const { ann, bob, month, ever, errors, subscriptions } = await shop()
    expect(
      await errors(`${ann._id},${month._id},,a`, `${bob._id},${month._id},,a`, `${ann._id},${ever._id},,a`),
    ).toEqual(['3 client_ref unique', '4 client_ref unique'])
    expect(await subscriptions()).toEqual([])
  })

  test('the same row twice is granted once', async () => {
    const { ann, month, rows, subscriptions } = await shop()
    const twice = await rows(`${ann._id},${month._id},5,a`, `${ann._id},${month._id},5,a`)
    expect(twice).toMatchObject({ total: 2, imported: 1, repeated: 1 })
    expect((await subscriptions()).map(({ start, end }) => end - start)).toEqual([5 * DAY])
  })

  test.each([
    ['with other days', '5', '7', ['2 client_ref other_days']],
    ['with days in the place of those of the plan', '', '30', ['2 client_ref other_days']],
    ['with those of the plan in the place of days', '30', '', ['2 client_ref other_days']],
    ['with the same days', '5', ' 5', []],
  ])('a reference that was granted before, %s', async (_, before, now, expected) => {
    const { ann, month, rows, errors, subscriptions } = await shop()
    expect(await rows(`${ann._id},${month._id},${before},a`)).toMatchObject({ imported: 1 })
    expect(await errors(`${ann._id},${month._id},${now},a`, `${ann._id},${month._id},1,b`)).toEqual(expected)
    expect((await subscriptions()).map(({ version }) => version)).toEqual([expected.length === 0 ? 2 : 1])
  })

  test('a reference that an earlier row has for other days', async () => {
    const { ann, month, errors } = empty
    expect(await errors(`${ann._id},${month._id},5,a`, `${ann._id},${month._id},7,a`)).toEqual([
      '3 client_ref other_days',
    ])
  })

  test('but a grant of an earlier release, whose days are not known, is repeated', async () => {
    const { context, ann, month, rows } = await shop()
    await rows(`${ann._id},${month._id},5,a`)
    await context.collections.payments.updateMany({}, { $unset: { days: '' } })
    expect(await rows(`${ann._id},${month._id},7,a`)).toMatchObject({ imported: 0, repeated: 1, errors: [] })
  })

  test('a reference that another payment uses already', async () => {
    const { ann, bob, month, errors, pay, subscriptions } = await shop()
    await pay(ann, month, { clientRef: 'paid' })
    await pay(bob, month, { method: 'manual', clientRef: 'granted', paymentId: '7', amountCents: 0 })
    expect(
      await errors(`${bob._id},${month._id},,new`, `${ann._id},${month._id},,paid`, `${ann._id},${month._id},,granted`),
    ).toEqual(['3 client_ref unique', '4 client_ref unique'])
    expect((await subscriptions()).map(({ version }) => version)).toEqual([1, 1])
  })

  test('a period for a user who has the plan for ever, before the file or by an earlier row of it', async () => {
    const { ann, bob, month, ever, errors, pay, subscriptions } = await shop()
    await pay(ann, ever)
    expect(await errors(`${bob._id},${ever._id},,a`, `${ann._id},${ever._id},30,b`)).toEqual(['3 user_id permanent'])
    expect(await errors(`${bob._id},${month._id},0,c`, `${bob._id},${month._id},30,d`)).toEqual(['3 user_id permanent'])
    expect((await subscriptions()).map(({ user_id }) => user_id)).toEqual([ann._id])
  })

  test('a repeat of an earlier import is no error, although the plan is permanent by now', async () => {
    const { ann, ever, rows } = await shop()
    for (const [imported, repeated] of [
      [1, 0],
      [0, 1],
    ])
      expect(await rows(`${ann._id},${ever._id},,a`)).toMatchObject({ imported, repeated, errors: [] })
  })
})
