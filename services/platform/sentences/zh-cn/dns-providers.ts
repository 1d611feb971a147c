/** What DNS providers and name servers refuse. */
import type { dnsProviders as english } from '../en/dns-providers.ts'

export const dnsProviders: Readonly<Record<keyof typeof english, string>> = {
  // Any provider
  'dns_provider.credentials_lost': 'DNS 账号的凭据无法解密，请重新保存。',
  'dns_provider.limit_reached': 'DNS 服务商的调用次数已用完，请在 {seconds} 秒后重试。',
  'dns_provider.unreachable': '无法连接 DNS 服务商。',
  'dns_provider.connection_lost': '与 DNS 服务商的连接在响应前中断。',
  'dns_provider.wait': 'DNS 服务商要求等待 {seconds} 秒。',
  'dns_provider.no_json': 'DNS 服务商返回 {status}，且不是 JSON。',
  'dns_provider.unknown_form': 'DNS 服务商的响应格式无法识别。',
  'dns_provider.refused': '{provider} 拒绝了请求：{reason}（{code}）。',
  'dns_provider.status': '状态 {status}',
  'dns_provider.record_exists': '记录已存在。',
  'dns_provider.record_changed': '记录在此期间发生了变化。',
  'dns_provider.records_changed': '记录集在此期间发生了变化。',
  'dns_provider.cname_conflict': '{name} 的现有记录不能与其他记录并存（CNAME）。',
  // Aliyun DNS
  'dns_provider.aliyun_suspended': '阿里云 DNS 已暂停该区域（黑洞），不提供解析。',
  'dns_provider.aliyun_permission': '该 AccessKey 缺少 RAM 权限 {permission}。',
  'dns_provider.aliyun_throttled': '阿里云要求降低请求频率。',
  // DNSPod
  'dns_provider.dnspod_status': '该区域在 DNSPod 的状态为 {status}，不提供解析。',
  'dns_provider.dnspod_delegation': '该区域未委派给 DNSPod 的域名服务器。',
  'dns_provider.dnspod_permission': '该 API 密钥缺少 CAM 权限 {permission}。',
  'dns_provider.dnspod_throttled': 'DNSPod 要求降低请求频率。',
  // Cloudflare
  'dns_provider.cloudflare_ambiguous': '区域 {zone} 存在于该令牌的 {count} 个账号中，请同时填写区域 ID。',
  'dns_provider.cloudflare_status': '该区域在 Cloudflare 的状态为 {status}：写入的内容尚未生效。',
  'dns_provider.cloudflare_paused': '该区域在 Cloudflare 已暂停。',
  'dns_provider.cloudflare_partial': '该区域为部分（CNAME）接入，DNS 由别处提供。',
  'dns_provider.cloudflare_permission': 'API 令牌在此无效，或缺少权限 {permission}。',
  'dns_provider.cloudflare_wait': 'Cloudflare 要求等待 {seconds} 秒。',
  // Servers with dynamic updates (RFC 2136)
  'dns_provider.host_unknown': '无法解析 DNS 服务器 {host} 的名称。',
  'dns_provider.host_private': 'DNS 服务器 {host} 使用私有地址，而本服务不允许。',
  'dns_provider.no_answer': 'DNS 服务器无响应：{reason}。',
  'dns_provider.rcode': 'DNS 服务器返回 {code}。',
  'dns_provider.update_refused': '服务器不允许用该密钥更新 {zone}（更新策略）。',
  'dns_provider.not_authoritative': '该服务器不是 {zone} 的权威服务器。',
  'dns_provider.the_zone': '该区域',
  'dns_provider.delegated_away': '在该服务器上，{name} 已从 {zone} 委派出去。',
  'dns_provider.tsig': 'TSIG：{reason}。',
  'dns_provider.tsig_missing': '响应未签名',
  'dns_provider.tsig_bad_signature': '服务器认为签名错误',
  'dns_provider.tsig_bad_key': '服务器不认识该密钥',
  'dns_provider.tsig_wrong': '响应的签名错误',
  'dns_provider.tsig_unreadable': '响应的签名无法解析',
  'dns_provider.tsig_clock': '时钟不一致：服务器比本机快 {seconds} 秒',
}
