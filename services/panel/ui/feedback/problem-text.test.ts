/** Texts of errors in both languages. */
import i18next from 'i18next'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Sentence } from '../../../platform/sentences/sentence.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { ApiProblem } from '../../api/problem.ts'
import { catalogue as en } from '../../i18n/en/index.ts'
import { changeLanguage, loadAllTexts, startI18n } from '../../i18n/index.ts'
import { catalogue as zh } from '../../i18n/zh-CN/index.ts'
import { displayedFieldErrors } from './field-error-text.ts'
import { fieldErrorLine, headline, problemText } from './problem-text.ts'

beforeAll(() => {
  vi.stubGlobal('document', { documentElement: {} })
  return startI18n('en').then(loadAllTexts)
})
afterAll(() => vi.unstubAllGlobals())

const problem = (code: string, detail: string, status = 422, retryAfter?: number) =>
  new ApiProblem({ code, status, detail, retryAfter })
const coded = (code: string, detail: string, { code: of, params = {} }: Sentence) =>
  new ApiProblem({ code, status: 409, detail, detailCode: { code: of, params } })

test.each([
  ['en', problem('conflict', 'There is a domain a.example already.', 409), 'There is a domain a.example already.'],
  ['zh-CN', problem('conflict', 'There is a domain.', 409), '与现有内容冲突（There is a domain.）。'],
  [
    'zh-CN',
    coded('conflict', 'You have the domain.', sentence('detail.domain_exists', { name: 'a.example' })),
    '您已有域名 a.example。',
  ],
  ['zh-CN', coded('conflict', 'Odd.', sentence('text.verbatim', { text: 'Odd.' })), '与现有内容冲突（Odd.）。'],
  ['zh-CN', problem('invalid_login', 'Wrong user name or password.', 401), '用户名或密码错误。'],
  ['zh-CN', problem('brand_new', 'Only in English yet.'), 'Only in English yet.'],
  ['en', problem('rate_limited', 'Too many requests.', 429, 30), 'Too many requests. Try again in 30 s.'],
  ['zh-CN', problem('rate_limited', 'Too many.', 429, 30), '请求过于频繁，请稍后再试。 请在 30 秒后重试。'],
  ['en', problem('offline', 'fetch failed', 0), en.problems.offline],
  ['zh-CN', problem('offline', 'fetch failed', 0), zh.problems.offline],
  ['en', new TypeError('x is not a function'), en.problems.internal],
] as const)('in %s, %o reads "%s"', async (language, error, words) => {
  await changeLanguage(language)
  expect(problemText(error, i18next.t)).toBe(words)
})

const refused = (fieldErrors: [pointer: string, message: string][], code = 'validation_failed') =>
  new ApiProblem({
    code,
    status: 422,
    title: 'Some fields are not valid.',
    detail: '/name: is odd',
    fieldErrors: fieldErrors.map(([pointer, message]) => ({ pointer, message })),
  })

test.each([
  ['en', refused([['/name', 'is odd']]), 'Some fields are not valid.', 'Some fields are not valid. Name: is odd'],
  [
    'zh-CN',
    refused([
      ['/name', 'is odd'],
      ['', 'odd'],
    ]),
    '参数校验失败。',
    '参数校验失败。 名称：is odd odd',
  ],
  [
    'en',
    refused([['/managed_by', 'k8s:web/gold']], '40907'),
    '/name: is odd',
    '/name: is odd managed by: k8s:web/gold',
  ],
] as const)(
  'in %s a form shows the headline, a notification also the field errors',
  async (language, error, text, all) => {
    await changeLanguage(language)
    expect(headline(error, i18next.t)).toBe(text)
    expect(problemText(error, i18next.t)).toBe(all)
  },
)

test.each([
  ['en', '/definition/rules/0/conditions/1/attribute', 'Rule 1, Condition 2, Attribute: odd'],
  ['zh-CN', 'rules.0.conditions.1.attribute', '规则 1，条件 2，属性：odd'],
  ['en', '/to/2', 'To 3: odd'],
  ['en', '/dns/spf/0', 'Other SPF senders 1: odd'],
  ['en', '/some_new_field', 'some new field: odd'],
  ['en', '/constructor', 'constructor: odd'],
  ['en', '/0/name', '0, Name: odd'],
  ['en', '', 'odd'],
] as const)('in %s the place %s reads "%s"', async (language, pointer, text) => {
  await changeLanguage(language)
  const [error] = displayedFieldErrors(refused([[pointer, 'odd']]))
  expect(error && fieldErrorLine(error, i18next.t)).toBe(text)
})

test('a validation error without field errors keeps its detail', async () => {
  await changeLanguage('en')
  expect(headline(problem('validation_failed', 'The file is no CSV.'), i18next.t)).toBe('The file is no CSV.')
})
