/** Entries of the delivery log about reports that came in. */
import type { inbound as english } from '../en/inbound.ts'

export const inbound: Readonly<Record<keyof typeof english, string>> = {
  'inbound.bounced': '对方报告无法投递此邮件',
  'inbound.complained': '收件人投诉了此邮件（{type}）',
  'inbound.reported': '对方对此邮件的报告：{action}',
}
