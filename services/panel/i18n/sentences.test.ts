/** All sentences of the service about DNS and health are translated; new ones are found in the sources. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sentenceTranslator } from './sentences.ts'
import { sentences } from './zh-CN/sentences.ts'

const chinese = sentenceTranslator(sentences)
const blanks = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

test.each([
  ['There is no TXT record at _dmarc.example.com.', '_dmarc.example.com 没有 TXT 记录。'],
  ['The record cannot be used: it has no p= tag.', '该记录无法使用：没有 p= 标签。'],
  [
    'Ask for the PTR record 10.2.0.192.in-addr.arpa → mail.example.com. Set at whoever gave you the address 192.0.2.10 (hosting or IP provider), not at your DNS provider.',
    '请申请设置 PTR 记录 10.2.0.192.in-addr.arpa → mail.example.com。请在提供地址 192.0.2.10 的主机商或网络服务商处设置，而不是 DNS 服务商。',
  ],
  ['It was changed. You chose to replace it.', '已被更改。您选择了替换。'],
  [
    'Adds ip4:192.0.2.10 include:a.example to the record that is there.',
    '在现有记录中加入 ip4:192.0.2.10 include:a.example。',
  ],
  ['must have at least 12 characters', '至少 12 个字符'],
  ['is a public suffix (co.uk); nobody can own it', '是公共后缀（co.uk），任何人都不能拥有'],
  ['You have no domain a.example.', '您没有域名 a.example。'],
  ['name servers: no delegation was found', '域名服务器：未找到委派'],
  ['ns1.example.com: the check ran out of time', 'ns1.example.com：检查超时'],
  ['2001:db8::53: no resolver is configured', '2001:db8::53：未配置解析器'],
  ['ns1.example.com: a reason that nobody wrote', undefined],
  ['A sentence that nobody wrote.', undefined],
  ['', undefined],
])('%s', (english, words) => {
  expect(chinese(english)).toBe(words)
})

test.each(Object.entries(sentences))('%s keeps its parameters and is translated', (english, words) => {
  expect(blanks(words)).toEqual(blanks(english))
  expect(words).toMatch(/[\u4e00-\u9fff]/)
  expect(words).not.toMatch(/[\u4e00-\u9fff][,;!?]/)
})

const SERVICE = join(import.meta.dirname, '../../mail')
/** Sources of the service with sentences that the panel shows. */
const SOURCES = [
  'dns/records/evaluate-record.ts',
  'dns/records/match-record.ts',
  'dns/records/spf-evaluate.ts',
  'dns/records/dkim.ts',
  'dns/records/guidance.ts',
  'dns/plan/dns-plan.ts',
  'dns/plan/plan-dkim.ts',
  'dns/plan/plan-dmarc.ts',
  'dns/plan/plan-item.ts',
  'dns/plan/plan-removal.ts',
  'dns/plan/plan-spf.ts',
  'administration/rules/health.ts',
  'domains/apply/apply-dns-plan.ts',
  'domains/apply/outcome.ts',
]

/** Sentences in a source file: string literals that start with a capital and end with a full stop. */
async function sentencesIn(file: string): Promise<string[]> {
  const source = (await readFile(join(SERVICE, file), 'utf8')).replaceAll(/\/\*.*?\*\/|^\s*\/\/[^\n]*$/gms, '')
  const literals = [...source.matchAll(/'((?:[^'\\\n]|\\.)+)'|`([^`]+)`/g)].map(([, plain, filled]) => plain ?? filled)
  return literals.flatMap(text => {
    const sentence = text?.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '7')
    return sentence && !text?.includes('\n') && /^[A-Z7].* .*\.$/.test(sentence) ? [sentence] : []
  })
}

describe.each(SOURCES)('what %s says', file => {
  test('is translated into Chinese', async () => {
    const found = await sentencesIn(file)
    expect(found.length).toBeGreaterThan(0)
    expect(found.filter(sentence => chinese(sentence) === undefined)).toEqual([])
  })
})
