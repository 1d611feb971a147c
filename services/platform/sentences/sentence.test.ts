/** Every sentence has a text in every language, with the same placeholders, and is used. */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { problems } from '../problems.ts'
import { english } from './en/index.ts'
import { problemTitles } from './en/problem-titles.ts'
import { render } from './render.ts'
import { inEnglish, type Sentence, SentenceError, sentence } from './sentence.ts'
import { chinese } from './zh-cn/index.ts'

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort()

describe.each(Object.entries(english))('%s', (code, text) => {
  const translated = chinese.texts[code as keyof typeof english]

  test('has the same placeholders in both languages', () => {
    expect(text.trim()).not.toBe('')
    expect(placeholders(translated)).toEqual(placeholders(text))
  })

  test('is written with Chinese characters and punctuation', () => {
    if (/[a-z]{2}/.test(text.replaceAll(/\{\w+\}/g, ''))) expect(translated).toMatch(/[\u4e00-\u9fff]/)
    expect(translated).not.toMatch(/[\u4e00-\u9fff][,;:!?]/)
  })
})

test('codes consist of a subject and a name', () => {
  expect(Object.keys(english).filter(code => !/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/.test(code))).toEqual([])
})

test('every problem has a title', () => {
  expect(Object.keys(problemTitles)).toEqual(Object.keys(problems).map(code => `problem.${code}`))
})

test('every code is used by the service', async () => {
  const services = join(import.meta.dirname, '../..')
  const used = new Set<string>()
  const rules = new Set<string>()
  for await (const file of glob(['**/*.ts', '../operator/**/*.ts'], { cwd: services })) {
    if (/\.test\.ts$|sentences\/(en|zh-cn)\/|node_modules/.test(file)) continue
    for (const [, code] of (await readFile(join(services, file), 'utf8')).matchAll(/'([a-z0-9_]+(?:\.[a-z0-9_]+)*)'/g))
      if (code) (/^(?:subscriptions|platform\/(?:network|tables))\//.test(file) ? rules : used).add(code)
  }
  // The subscription module, tables, and what is wrong with a target, name the sentences of fields by rule, without `field.`.
  const isUsed = (code: string) =>
    used.has(code) || rules.has(code) || (code.startsWith('field.') && rules.has(code.slice('field.'.length)))
  expect(Object.keys(english).filter(code => !code.startsWith('problem.') && !isUsed(code))).toEqual([])
})

test('words in a sentence are sentences, so that no English fragment is in a Chinese text', () => {
  // @ts-expect-error: a text of ours needs a code, and one from outside needs verbatim().
  sentence('detail.form', { reason: 'its boundary is missing' })
  expect(render(sentence('detail.form', { reason: sentence('detail.form_cut') }), chinese)).toBe(
    '无法读取表单：缺少 boundary。',
  )
})

describe('a sentence', () => {
  const catalogue = (texts: Record<string, string>, separator = ', ') => ({
    texts: { ...english, ...texts },
    separator,
  })

  test.each<[string, Sentence | string, string]>([
    ['has its text', sentence('problem.conflict'), 'This conflicts with what exists.'],
    ['of an older release is kept as it is', 'The record is odd.', 'The record is odd.'],
    ['of a newer release shows its code', JSON.parse('{"code":"dns.of_tomorrow"}'), 'dns.of_tomorrow'],
    ['named like a member of every object shows its code', JSON.parse('{"code":"constructor"}'), 'constructor'],
  ])('%s', (_, given, text) => expect(inEnglish(given)).toBe(text))

  test.each<[string, Sentence['params'], string]>([
    ['a text and a number', { a: 'x', b: 7 }, 'x, then 7'],
    ['a sentence', { a: sentence('problem.conflict'), b: 0 }, 'conflict, then 0'],
    ['a list', { a: ['x', sentence('problem.conflict')], b: '' }, 'x|conflict, then '],
    ['nothing for a placeholder', { a: 'x' }, 'x, then {b}'],
    ['a value that looks like a placeholder', { a: '{b}', b: '$&' }, '{b}, then $&'],
  ])('renders %s', (_, params, text) => {
    const texts = catalogue({ 'problem.internal': '{a}, then {b}', 'problem.conflict': 'conflict' }, '|')
    expect(render({ code: 'problem.internal', params: params ?? {} }, texts)).toBe(text)
  })

  test('is the message of an error', () => {
    const cause = new Error('x')
    const error = new SentenceError(sentence('problem.conflict'), { cause })
    expect([error.message, error.cause, error.sentence]).toEqual([
      'This conflicts with what exists.',
      cause,
      { code: 'problem.conflict' },
    ])
  })
})
