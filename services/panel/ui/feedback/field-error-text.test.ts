/** Texts and locations of field errors. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { english } from '../../../platform/sentences/en/index.ts'
import { ApiProblem } from '../../api/problem.ts'
import { changeLanguage, loadAllTexts, startI18n } from '../../i18n/index.ts'
import { asLine, displayedFieldErrors, fieldErrorText, fieldOf } from './field-error-text.ts'

beforeAll(() => {
  vi.stubGlobal('document', { documentElement: {} })
  return startI18n('en').then(loadAllTexts)
})
afterAll(() => vi.unstubAllGlobals())

describe.each([
  ['en', 'Keeping the records up to date needs a DNS account.'],
  ['zh-CN', '维护记录需要一个 DNS 账号。'],
] as const)('in %s', (language, text) => {
  beforeAll(() => changeLanguage(language))

  test('an error with a known code has the text of the language', () => {
    expect(
      fieldErrorText({
        sentence: { code: 'field.needs_dns_account', params: {} },
        message: 'Keeping the records up to date needs a DNS account.',
      }),
    ).toBe(text)
  })

  test.each([
    ['an unknown code', { sentence: { code: 'field.of_tomorrow', params: {} }, message: 'is odd' }],
    ['no code', { message: '不能为空' }],
  ])('an error with %s has its message', (_, error) => {
    expect(fieldErrorText(error)).toBe(error.message)
  })
})

const validationProblem = (...pointers: string[]) =>
  new ApiProblem({
    code: 'validation_failed',
    status: 422,
    detail: '',
    fieldErrors: pointers.map(pointer => ({ pointer, message: `${pointer} is odd` })),
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
  expect(displayedFieldErrors(validationProblem(pointer))).toEqual([{ path, text: `${pointer} is odd` }])
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
  const [fieldError] = displayedFieldErrors(validationProblem(pointer))
  expect(fieldError && fieldOf(fieldError, fields)).toBe(name)
})

test('other errors have no field errors', () => {
  expect(displayedFieldErrors(new Error('x'))).toEqual([])
  expect(displayedFieldErrors(undefined)).toEqual([])
})

test('each reason of the service is a sentence below a control', () => {
  const lines = Object.entries({ ...english })
    .filter(([code]) => /^(?:field|detail\.not_a_domain)/.test(code))
    .map(([, text]) => asLine(text))
  // A capital or a quoted value, and a subject, unless it is a demand.
  expect(lines.filter(line => !/^(?:[A-Z"]|\{\w+\})/.test(line))).toEqual([])
  expect(lines.filter(line => /^(?:Is|Has|Had|Was|May|Needs|Holds|Starts|Still|Excludes|Does)\b/.test(line))).toEqual(
    [],
  )
})

test.each([
  ['must not be empty', 'Must not be empty.'],
  ['is no domain name: "a b"!', 'This is no domain name: "a b"!'],
  ['is required', 'This is required.'],
  ['may have two decimals at most', 'This may have two decimals at most.'],
  ['island is no code', 'Island is no code.'],
  ['Write a price such as 19.90.', 'Write a price such as 19.90.'],
  ['不能为空', '不能为空'],
  ['', ''],
])('%j below a control is %j', (reason, line) => {
  expect(asLine(reason)).toBe(line)
})
