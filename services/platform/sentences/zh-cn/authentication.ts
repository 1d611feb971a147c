import type { authentication as english } from '../en/authentication.ts'

export const authentication: Record<keyof typeof english, string> = {
  'authentication.refused': '{site} 拒收 {domain} 的邮件（{status}）。{hint}',
  'authentication.more': '另有 {count} 个接收方拒收。',
  'authentication.none': '最近 7 天没有接收方因身份验证失败而拒收邮件。',
  'authentication.not_verified': '该域名尚未验证。',
  'authentication.fix_spf': 'SPF 未通过：请发布该域名的 SPF 记录并包含发信地址，DNS 查询次数不超过 10 次。',
  'authentication.fix_dkim': 'DKIM 未通过：请发布该域名的 DKIM 记录，并确保邮件在签名后不被修改。',
  'authentication.fix_alignment':
    'DMARC 未通过：发件人（From）地址的域名必须与签名域名（DKIM）或信封发件人域名（SPF）一致。',
  'authentication.fix_dmarc_record': '请在该域名的 _dmarc 处发布 DMARC 记录，策略至少为 p=none。',
  'authentication.fix_ptr':
    '反向解析缺失或不匹配：请让发信地址的所有者设置 PTR 记录，指向发信主机名，并发布该主机名的 A 或 AAAA 记录。',
  'authentication.fix_tls': '接收方要求 TLS：请检查发信进程与接收方之间是否有防火墙或代理移除了 STARTTLS。',
  'authentication.fix_several':
    '接收方无法验证该邮件：请发布该域名的 SPF、DKIM 和 DMARC 记录，并检查发信地址的 PTR 记录。',
}
