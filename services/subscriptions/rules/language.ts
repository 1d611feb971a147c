/** The languages of the Subscription Administration API, and all texts except refusals. */

import { render } from '../../platform/sentences/render.ts'
import { inEnglish, type Sentence } from '../../platform/sentences/sentence.ts'
import { chinese } from '../../platform/sentences/zh-cn/index.ts'

/** A language of answers. */
export type Lang = 'zh' | 'en'

/** The preferred one first: used for a client that accepts any language. */
export const LANGS = ['zh', 'en'] as const satisfies readonly Lang[]

/** The language of the header `lang`; Chinese when missing or unknown, the only value in the reference. */
export function langOf(header: string): Lang {
  return /^en\b/i.test(header.trim()) ? 'en' : 'zh'
}

/** The text of a sentence in a language. */
export function renderIn(lang: Lang, given: Sentence): string {
  return lang === 'zh' ? render(given, chinese) : inEnglish(given)
}

const TEXTS = {
  ok: ['操作成功', 'OK'],
  permanent: ['永久有效', 'Permanent'],
  switch_on: ['开启', 'On'],
  switch_off: ['关闭', 'Off'],
  status_enabled: ['已启用', 'Enabled'],
  status_partial: ['灰度中', 'Partial'],
  status_scheduled: ['待生效', 'Scheduled'],
  status_off: ['已关闭', 'Off'],
  status_killed: ['已熔断', 'Killed'],
  changelog_empty: ['暂无版本', 'No versions'],
  type_boolean: ['布尔', 'Boolean'],
  type_number: ['数字', 'Number'],
  type_string: ['字符串', 'String'],
  type_json: ['JSON 对象', 'JSON object'],
  type_changelog: ['更新日志', 'Changelog'],
  format_boolean: ['1 或 0', '1 or 0'],
  format_number: ['十进制数字', 'A decimal number'],
  format_string: ['任意文本', 'Any text'],
  format_json: ['JSON 对象文本', 'The text of a JSON object'],
  format_changelog: ['含 title 与 logs 的 JSON 文本', 'The text of a JSON object with title and logs'],
} as const satisfies Record<string, readonly [zh: string, en: string]>

/** The key of a text. */
export type TextKey = keyof typeof TEXTS

/** A text in a language. */
export function translate(key: TextKey, lang: Lang): string {
  return TEXTS[key][lang === 'zh' ? 0 : 1]
}
