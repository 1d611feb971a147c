import { expect, test } from 'vitest'
import { languageFor } from './preferences.ts'

test.each<[string, string[], string]>([
  ['English', ['en-GB', 'en'], 'en'],
  ['Chinese', ['zh-CN', 'zh'], 'zh-CN'],
  ['Chinese as it is written in Taiwan', ['zh-Hant-TW'], 'zh-CN'],
  ['capitals', ['ZH-cn'], 'zh-CN'],
  ['German before Chinese', ['de-DE', 'zh'], 'zh-CN'],
  ['German, then English, then Chinese', ['de-DE', 'en-US', 'zh'], 'en'],
  ['English before Chinese', ['en', 'zh'], 'en'],
  ['Chinese before English', ['zh', 'en'], 'zh-CN'],
  ['languages that the panel has not', ['de', 'fr'], 'en'],
  ['a language whose tag only begins alike', ['zha', 'enm', 'zh-CN'], 'zh-CN'],
  ['nothing', [], 'en'],
])('a browser that prefers %s gets a supported language', (_what, tags, language) => {
  expect(languageFor(tags)).toBe(language)
})
