/** 发送限额。 */
import type { limits as english } from '../en/limits.ts'

export const limits: Readonly<Record<keyof typeof english, string>> = {
  'limits.of_account': '该账号',
  'limits.of_credential': '登录名 {name}',
  'limits.of_domain': '域名 {name}',
  'detail.limit_rate': '{whose} 的发送限额为每秒 {limit} 个收件人，突发上限 {burst} 个；请在 {seconds} 秒后重试。',
  'detail.limit_hour': '{whose} 的发送限额为每小时 {limit} 个收件人，还剩 {left} 个；{seconds} 秒后重新计算。',
  'detail.limit_day': '{whose} 的发送限额为每天 {limit} 个收件人，还剩 {left} 个；{seconds} 秒后重新计算。',
  'detail.limit_unknown_subject': '该账号没有这个登录名或域名。',
  'detail.limits_most': '每个账号最多可设置 {count} 个限额。',
  'field.limit_of_other_scope': '不适用于这类限额',
  'field.limit_burst_alone': '需要同时设置 recipients_per_second',
  'field.limit_above_account': '不能高于账号的限额 {limit}',
  'field.destination': '必须是服务商、域名或 *',
}
