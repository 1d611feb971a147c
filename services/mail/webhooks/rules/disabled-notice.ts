/** The mail about a webhook that the platform disabled. */
import { render, type Sentence } from '../../../platform/sentences/render.ts'
import { inEnglish, sentence } from '../../../platform/sentences/sentence.ts'
import { chinese } from '../../../platform/sentences/zh-cn/index.ts'

/** Most characters of a name in the subject: an address can stand for it. */
const NAME_CHARS = 200

/** What the mail says. */
export interface DisabledFacts {
  /** Of the webhook, for people. */
  name: string
  url: string
  at: Date
  reason: Sentence
  /** Address of the page where it is enabled again. */
  link: string
}

/** Subject and text in the language of the account. */
export function disabledNotice(lang: 'en' | 'zh', { name, url, at, reason, link }: DisabledFacts) {
  const say = (given: Sentence) => (lang === 'zh' ? render(given, chinese) : inEnglish(given))
  return {
    subject: say(sentence('mail.webhook_disabled_subject', { name: name.slice(0, NAME_CHARS) })),
    text: say(sentence('mail.webhook_disabled_text', { name, url, at: at.toISOString(), reason, link })),
  }
}
