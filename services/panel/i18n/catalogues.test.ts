/** Both catalogues have the same keys and parameters. */
import i18next from 'i18next'
import { beforeAll, describe, expect, test } from 'vitest'
import { catalogue as en } from './en/index.ts'
import { i18nOptions } from './index.ts'
import { catalogue as zh } from './zh-CN/index.ts'

function flatten(value: object, path = ''): [key: string, text: string][] {
  return Object.entries(value).flatMap(([name, inner]): [string, string][] =>
    typeof inner === 'string' ? [[path + name, inner]] : flatten(inner, `${path}${name}.`),
  )
}

const english = new Map(flatten(en))
const chinese = new Map(flatten(zh))
const blanks = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(match => match[1]).sort()

test('the languages have the same keys', () => {
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort())
})

test.each([...english])('%s is translated and has the same parameters in both languages', (key, text) => {
  for (const one of [text, chinese.get(key) ?? '']) {
    expect(one.trim()).not.toBe('')
    // A separator stands between two texts.
    if (!key.endsWith('.separator')) expect(one, 'blanks at an end, or two in a row').not.toMatch(/^\s|\s$|[ ]{2}/)
  }
  expect(blanks(chinese.get(key) ?? '')).toEqual(blanks(text))
})

test('Chinese texts use Chinese punctuation', () => {
  const odd = [...chinese].filter(([, text]) => /[\u4e00-\u9fff][,;!?:]|[,;!?:][\u4e00-\u9fff]/.test(text))
  expect(odd).toEqual([])
})

describe.each([
  ['en', english],
  ['zh-CN', chinese],
] as const)('in %s', (language, words) => {
  let say: (key: string, options: object) => string
  beforeAll(async () => {
    const resources = { en: { translation: en }, 'zh-CN': { translation: zh } }
    say = (await i18next.createInstance().init({ ...i18nOptions, lng: language, resources })) as typeof say
  })

  test.each([...words])('%s is found by its key', (key, text) => {
    expect(say(key, { skipInterpolation: true })).toBe(text)
  })

  test('a count selects singular or plural', () => {
    expect(say('overview.days', { count: 1 })).toBe(language === 'en' ? '1 day' : '1 天')
    expect(say('overview.days', { count: 7 })).toBe(language === 'en' ? '7 days' : '7 天')
  })
})
