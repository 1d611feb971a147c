/** 与其他服务格式兼容的 API 自行拒绝的内容。 */
import type { compat as english } from '../en/compat.ts'

export const compat: Readonly<Record<keyof typeof english, string>> = {
  'compat.key_missing': '缺少 API 密钥：请发送 Authorization: Bearer 令牌。',
  'compat.not_served': '此处不提供 {method} {path}。',
  'compat.field_not_served': '此处不支持字段 {field}。',
  'compat.value_not_served': '此处不支持 {field} 的值 {value}。',
  'compat.time': '{field} 必须是带时区的时间，例如 2026-12-24T18:00:00Z，或从现在起的时间，例如 "in 10 minutes"。',
  'compat.batch_validation': 'x-batch-validation 必须是 strict 或 permissive。',
  'compat.before': '不在列表的前 {count} 项之中',
  'compat.one_cursor': '不能同时给出 after 和 before。',
  'compat.attachment_empty': '第 {index} 个附件既没有 content 也没有 path。',
  'compat.attachment_twice': '第 {index} 个附件同时有 content 和 path。',
  'compat.attachment_octets': '第 {index} 个附件的 content 必须是 base64，或以整数列表表示的字节。',
  'compat.attachment_path': '第 {index} 个附件的 path 必须是 http 或 https 地址。',
  'compat.attachment_in_batch': '批量邮件不能按 path 添加附件。',
  'compat.attachment_target': '无法获取第 {index} 个附件：{reason}',
  'compat.attachment_status': '无法获取第 {index} 个附件：服务器回答 {status}。',
  'compat.attachment_large': '附件超过 {limit} 字节。',
  'compat.attachments_busy': '正在获取的附件过多，请稍后重试。',
  'compat.one_of': '请只给出 emails 或 ids 之一。',
}
