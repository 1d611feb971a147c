/** Texts of errors in both languages. */
import i18next from 'i18next'
import { beforeAll, expect, test } from 'vitest'
import { ApiProblem } from '../../api/problem.ts'
import { catalogue as en } from '../../i18n/en/index.ts'
import { catalogue as zh } from '../../i18n/zh-CN/index.ts'
import { headline, problemText } from './problem-text.ts'

beforeAll(() =>
  i18next.init({ lng: 'en', resources: { en: { translation: en }, 'zh-CN': { translation: zh } }, fallbackLng: false }),
)

const problem = (code: string, detail: string, status = 422, retryAfter?: number) =>
  new ApiProblem({ code, status, detail, retryAfter })

test.each([
  ['en', problem('conflict', 'There is a domain a.example already.', 409), 'There is a domain a.example already.'],
  ['zh-CN', problem('conflict', 'There is a domain.', 409), '与现有内容冲突。（There is a domain.）'],
  ['zh-CN', problem('invalid_login', 'Wrong user name or password.', 401), '用户名或密码错误。'],
  ['zh-CN', problem('brand_new', 'Only in English yet.'), 'Only in English yet.'],
  ['en', problem('rate_limited', 'Too many requests.', 429, 30), 'Too many requests. Try again in 30 s.'],
  ['zh-CN', problem('rate_limited', 'Too many.', 429, 30), '请求过于频繁。 请在 30 秒后重试。'],
  ['en', problem('offline', 'fetch failed', 0), en.problems.offline],
  ['zh-CN', problem('offline', 'fetch failed', 0), zh.problems.offline],
  ['en', new TypeError('x is not a function'), en.problems.internal],
])('in %s, %o reads "%s"', async (language, error, words) => {
  await i18next.changeLanguage(language)
  expect(problemText(error, i18next.t)).toBe(words)
})

const refused = (fieldErrors: [pointer: string, message: string][], code = 'validation_failed') =>
  new ApiProblem({
    code,
    status: 422,
    detail: '/name: Too small: expected string to have >=1 characters',
    fieldErrors: fieldErrors.map(([pointer, message]) => ({ pointer, code: 'x', message })),
  })

test.each([
  [
    'en',
    refused([['/name', 'Too small: expected string to have >=1 characters']]),
    'Some fields are not valid.',
    'Some fields are not valid. name: Fill this in.',
  ],
  [
    'zh-CN',
    refused([
      ['/name', 'Too small: expected string to have >=1 characters'],
      ['', 'odd'],
    ]),
    zh.problems.validation_failed,
    `${zh.problems.validation_failed} name: 请填写此项。 odd`,
  ],
  [
    'en',
    refused([['/managed_by', 'k8s:web/gold']], '40907'),
    '/name: Too small: expected string to have >=1 characters',
    '/name: Too small: expected string to have >=1 characters managed_by: k8s:web/gold',
  ],
])('in %s a form shows the headline, a notification also the field errors', async (language, error, sentence, all) => {
  await i18next.changeLanguage(language)
  expect(headline(error, i18next.t)).toBe(sentence)
  expect(problemText(error, i18next.t)).toBe(all)
})

test('a validation error without field errors keeps its detail', async () => {
  await i18next.changeLanguage('en')
  expect(headline(problem('validation_failed', 'The file is no CSV.'), i18next.t)).toBe('The file is no CSV.')
})
