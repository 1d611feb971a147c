/** What people read when something fails, in both languages. */
import i18next from 'i18next'
import { beforeAll, expect, test } from 'vitest'
import { ApiProblem } from '../api/problem.ts'
import { catalogue as en } from '../i18n/en/index.ts'
import { catalogue as zh } from '../i18n/zh-CN/index.ts'
import { fieldFaults, problemText } from './problem-text.ts'

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

test('faults are found by the name of their field', () => {
  const error = new ApiProblem({
    code: 'validation_failed',
    status: 422,
    detail: '',
    faults: [
      { pointer: '/allowed_senders/0', code: 'x', message: 'is no address' },
      { pointer: '', code: 'x', message: 'odd' },
    ],
  })
  expect(fieldFaults(error)).toEqual({ allowed_senders: 'is no address', '': 'odd' })
  expect(fieldFaults(new Error('x'))).toEqual({})
})
