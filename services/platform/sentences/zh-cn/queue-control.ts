/** 等待邮件的暂停与操作。 */
import type { queueControl as english } from '../en/queue-control.ts'

export const queueControl: Readonly<Record<keyof typeof english, string>> = {
  'detail.no_hold': '没有可由您解除的此项暂停。',
  'detail.holds_most': '最多可有 {count} 项暂停，请先解除一些。',
  'detail.actions_most': '已有 {count} 项队列操作在进行，请等待其中一些完成。',
  'detail.queue_nothing_selected': '没有这样的账号、域名或邮件。',
  'field.hold_until': '必须是将来的时间',
  'field.queue_destination': '必须是服务商或域名',
}
