/** 邮件流、列表以及收件人如何退订。 */
import type { streams as english } from '../en/streams.ts'

export const streams: Readonly<Record<keyof typeof english, string>> = {
  'streams.unknown': 'X-Postwright-Stream 必须是 transactional 或 bulk。',
  'streams.list_without_bulk': '列表属于批量邮件：X-Postwright-List 需要 X-Postwright-Stream: bulk。',
  'streams.list_name': '必须为 1 到 64 个字符：a-z、0-9、点、连字符和下划线，并以字母或数字开头',
  'streams.url': '必须是由 ASCII 字符组成的 https 地址',
  'streams.for_bulk': '仅用于批量邮件：请将 stream 设为 "bulk"',
  'streams.incomplete_fields':
    'Gmail、Yahoo 和 Outlook 要求批量邮件可以一键退订（RFC 8058）：List-Unsubscribe 需要包含 https 地址，List-Unsubscribe-Post 必须是 List-Unsubscribe=One-Click。请同时发送这两个字段，或都不发送：系统会自动添加。',
  'streams.no_address':
    'Gmail、Yahoo 和 Outlook 要求批量邮件可以一键退订（RFC 8058）。本系统没有可用于退订的公网 https 地址（APP_BASE_URL）：请由管理员设置，或自行发送 List-Unsubscribe 和 List-Unsubscribe-Post。',
  'streams.unauthenticated':
    '对于 SPF、DKIM 和 DMARC 记录未全部通过验证的域名，Gmail、Yahoo 和 Outlook 每天最多接收 {limit} 封邮件。{domain} 今天发往 {provider} 的批量邮件已达到此数量。请补全其 DNS 记录，或在 {seconds} 秒后重试。',
  'streams.unsubscribed_by_click': '收件人已一键退订 {stream}。',
  'streams.unsubscribed_on_page': '收件人已在页面上退订 {stream}。',
  'streams.unsubscribed_by_mail': '收件人已通过邮件退订 {stream}。',
}
