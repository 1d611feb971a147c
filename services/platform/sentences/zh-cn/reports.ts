/** DMARC and TLS reports: why one is refused, and what the summary of a source means. */
import type { reports as english } from '../en/reports.ts'

export const reports: Readonly<Record<keyof typeof english, string>> = {
  'report.file_too_large': '文件超过 {limit} MiB。',
  'report.inflates_too_much': '报告解压后超过 {limit} MiB，或相对压缩文件过大。',
  'report.archive_damaged': '压缩文件已损坏。',
  'report.archive_entries': '压缩包中必须恰好有一份报告（.xml 或 .json），且没有密码。',
  'report.unknown_format': '该文件既不是 XML 格式的 DMARC 报告，也不是 JSON 格式的 TLS 报告（可为原文、gzip 或 zip）。',
  'report.document_type': 'XML 中声明了文档类型或实体，而报告不应含有。',
  'report.not_well_formed': 'XML 格式不正确。',
  'report.not_a_report': '该 XML 不是 DMARC 报告：根元素不是 “feedback”。',
  'report.not_json': '无法读取 JSON：{reason}。',
  'report.too_deep': '报告的元素嵌套过深。',
  'report.field_too_long': '报告中有字段超过 {count} 个字符。',
  'report.field_missing': '报告缺少有效的 {field}。',
  'report.too_many_records': '报告的记录超过 {count} 条。',
  'report.no_valid_records': '报告的 {count} 条记录都无效。',
  'report.period': '报告的时间段无效、位于将来，或开始于 {days} 天之前。',
  'report.other_domain': '该报告针对 {reported}，而不是 {domain}。',
  'report.no_attachment': '邮件中没有可能是报告的附件。',
  'report.busy': '当前正在读取的报告过多。',
  'report.ours': '由本系统发送，且通过验证。',
  'report.ours_failing': '由本系统发送，但未通过验证。请检查该域名的 DKIM 和 SPF 记录。',
  'report.authorised': '该域名的 SPF 记录或 DKIM 密钥授权的其他服务器。',
  'report.forwarder': 'DKIM 签名通过而 SPF 未通过，常见于转发或邮件列表。无需处理。',
  'report.forwarder_failing': '接收方认定为转发邮件，签名在途中被破坏。常由转发或邮件列表引起，无需处理。',
  'report.misconfigured':
    'SPF 或 DKIM 通过，但针对其他域名。如果是您使用的服务，请将其配置为使用您域名的 DKIM 密钥签名。',
  'report.forged': 'SPF 和 DKIM 均未通过。可能是伪造邮件，或是您尚未配置的服务器：请将其加入 SPF 并为邮件签名。',
  'report.other_sources': '来源过多，其余来源合并计算。',
}
