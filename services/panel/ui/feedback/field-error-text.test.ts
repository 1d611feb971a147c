/** Texts of field errors for real messages of the schema library, in both languages. */
import i18next from 'i18next'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ApiProblem } from '../../api/problem.ts'
import { catalogue as en } from '../../i18n/en/index.ts'
import { catalogue as zh } from '../../i18n/zh-CN/index.ts'
import { displayedFieldErrors, fieldErrorText, fieldOf } from './field-error-text.ts'

beforeAll(() =>
  i18next.init({ lng: 'en', resources: { en: { translation: en }, 'zh-CN': { translation: zh } }, fallbackLng: false }),
)

/** The first error message of a schema. */
function firstMessage(schema: z.ZodType, value: unknown): string {
  return schema.safeParse(value).error?.issues[0]?.message ?? 'valid'
}

const text = z.string()
const list = z.array(z.string())
const CASES: readonly [value: unknown, schema: z.ZodType, en: string, zh: string][] = [
  ['', text.min(1), 'Fill this in.', '请填写此项。'],
  [[], list.min(1), 'Fill this in.', '请填写此项。'],
  [undefined, text, 'Fill this in.', '请填写此项。'],
  ['short', text.min(12), 'At least 12 characters.', '至少 12 个字符。'],
  ['x'.repeat(65), text.max(64), 'At most 64 characters.', '最多 64 个字符。'],
  [['a'], list.min(2), 'At least 2 entries.', '至少 2 项。'],
  [['a', 'b'], list.max(1), 'At most 1 entry.', '最多 1 项。'],
  [-1, z.number().min(0), 'At least 0.', '不能小于 0。'],
  [-30, z.number().min(-5), 'At least -5.', '不能小于 -5。'],
  [101, z.int().max(100), 'At most 100.', '不能大于 100。'],
  [0, z.number().positive(), 'More than 0.', '必须大于 0。'],
  [0, z.number().negative(), 'Less than 0.', '必须小于 0。'],
  ['x', z.enum(['a', 'b']), 'Choose one of the offered values.', '请从给出的选项中选择。'],
  ['x', z.email(), 'This is not in the expected form.', '格式不符合要求。'],
  ['x', text.regex(/^\d+$/), 'This is not in the expected form.', '格式不符合要求。'],
  ['x', z.number(), 'This is not in the expected form.', '格式不符合要求。'],
  [1.5, z.int(), 'This is not in the expected form.', '格式不符合要求。'],
  ['x', z.union([z.number(), z.boolean()]), 'This is not in the expected form.', '格式不符合要求。'],
  ['x', text.regex(/^\d+$/, 'Digits only.'), 'Digits only.', 'Digits only.'],
  ['x', text.refine(() => false, 'too_odd'), 'too_odd', 'too_odd'],
]

describe.each(['en', 'zh-CN'] as const)('in %s', language => {
  beforeAll(async () => {
    await i18next.changeLanguage(language)
  })

  test.each(CASES)('the message for %j against its schema is readable', (value, schema, english, chinese) => {
    const message = firstMessage(schema, value)
    expect(message).not.toBe('valid')
    expect(fieldErrorText({ message }, i18next.t)).toBe(language === 'en' ? english : chinese)
  })

  test.each(['Invalidated by an admin.', 'Too small a key: use 2048 bits.', 'is required', '不能为空', ''])(
    'messages of the service are kept: %j',
    message => {
      expect(fieldErrorText({ message }, i18next.t)).toBe(message)
    },
  )
})

const validationProblem = (...pointers: string[]) =>
  new ApiProblem({
    code: 'validation_failed',
    status: 422,
    detail: '',
    fieldErrors: pointers.map(pointer => ({ pointer, code: 'x', message: `${pointer} is odd` })),
  })

test.each([
  ['/name', ['name']],
  ['/allowed_senders/0', ['allowed_senders', '0']],
  ['/dns/dmarc/rua/1', ['dns', 'dmarc', 'rua', '1']],
  // The Subscription Administration API separates path segments by dots.
  ['/rules.0.values', ['rules', '0', 'values']],
  ['', []],
  ['/', []],
])('%s is at %j', (pointer, path) => {
  expect(displayedFieldErrors(validationProblem(pointer), i18next.t)).toEqual([{ path, text: `${pointer} is odd` }])
})

test.each([
  ['/name', { name: '' }, 'name'],
  ['/allowed_senders/0', { allowed_senders: '', name: '' }, 'allowed_senders'],
  ['/dns/spf/0', { policy: '', spf: '' }, 'spf'],
  ['/credentials/api_token', { name: '', api_token: '' }, 'api_token'],
  // The error belongs to a rule, not to the name of the switch.
  ['/rules/0/name', { name: '', rules: [] }, 'rules'],
  ['/managed_by', { name: '' }, undefined],
  ['', { name: '' }, undefined],
  ['/constructor', { name: '' }, undefined],
])('a form with other fields shows %s of %j at %s', (pointer, fields, name) => {
  const [fieldError] = displayedFieldErrors(validationProblem(pointer), i18next.t)
  expect(fieldError && fieldOf(fieldError, fields)).toBe(name)
})

test('other errors have no field errors', () => {
  expect(displayedFieldErrors(new Error('x'), i18next.t)).toEqual([])
  expect(displayedFieldErrors(undefined, i18next.t)).toEqual([])
})
