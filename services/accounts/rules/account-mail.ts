/** Subject and text of mail about accounts. */

import { render, type Sentence } from '../../platform/sentences/render.ts'
import { inEnglish, sentence } from '../../platform/sentences/sentence.ts'
import { chinese } from '../../platform/sentences/zh-cn/index.ts'

/** What a mail is about. */
export type MailTopic = 'password_reset' | 'password_was_reset' | 'confirm_email' | 'email_was_changed' | 'invitation'

/** Values in the text: a user name, and the address of a page. */
export interface MailFacts {
  name: string
  link: string
}

const SUBJECTS = {
  password_reset: 'mail.reset_subject',
  password_was_reset: 'mail.was_reset_subject',
  confirm_email: 'mail.confirm_subject',
  email_was_changed: 'mail.email_changed_subject',
  invitation: 'mail.invitation_subject',
} as const

const TEXTS = {
  password_reset: 'mail.reset_text',
  password_was_reset: 'mail.was_reset_text',
  confirm_email: 'mail.confirm_text',
  email_was_changed: 'mail.email_changed_text',
  invitation: 'mail.invitation_text',
} as const

/** The mail in the language of its reader. */
export function accountMailText(
  topic: MailTopic,
  lang: 'en' | 'zh',
  facts: MailFacts,
): { subject: string; text: string } {
  return { subject: say(sentence(SUBJECTS[topic]), lang), text: say(sentence(TEXTS[topic], { ...facts }), lang) }
}

/** The invitation to the account of a user, by its name. */
export function memberInvitationText(
  lang: 'en' | 'zh',
  { name, account, link }: MailFacts & { account: string },
): { subject: string; text: string } {
  return {
    subject: say(sentence('mail.member_invitation_subject', { account }), lang),
    text: say(sentence('mail.member_invitation_text', { name, account, link }), lang),
  }
}

function say(given: Sentence, lang: 'en' | 'zh'): string {
  return lang === 'zh' ? render(given, chinese) : inEnglish(given)
}
