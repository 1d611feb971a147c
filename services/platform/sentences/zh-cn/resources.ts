/** Messages of the conditions of Kubernetes resources. */
import type { resources as english } from '../en/resources.ts'

export const resources: Readonly<Record<keyof typeof english, string>> = {
  // Any resource
  'resource.database_unavailable': '数据库无响应，正在重试。',
  'resource.internal_error': '发生内部错误，详情见 operator 日志。正在重试。',
  'resource.paused': '注解 {annotation} 为 "paused"：不为 {name} 写入任何内容。',
  'resource.spec_invalid': 'spec 无效：{errors}',
  'resource.refused': '{detail}{errors}',
  'resource.field_error': '{pointer} {reason}',
  'resource.account_withdrawn':
    '命名空间 {namespace} 已不能代表账号 {account}。{effect}有权修改该 Namespace 的用户可在注解 {annotation} 中列出该账号。',
  'resource.account_gone': '该账号已不存在。{effect}有权修改该 Namespace 的用户可在注解 {annotation} 中列出其他账号。',
  'resource.account_not_allowed':
    '命名空间 {namespace} 不能代表账号 {account}。有权修改该 Namespace 的用户可在注解 {annotation} 中列出该账号。',
  'resource.account_unknown': '没有账号 {account}。',
  'resource.force_delete': '注解 postwright.dev/force-delete: "true" 可立即删除。',
  // Secrets
  'resource.secret_foreign': '已存在不是由此资源创建的 Secret {name}。请将其删除，或在新资源中使用其他名称。',
  'resource.secret_written': 'Secret {name} 已写入。',
  'resource.secret_refused': 'API server 拒绝写入 Secret {name}：{reason}',
  // MailDomain
  'resource.domain_duplicate': 'MailDomain {namespace}/{name} 更早为同一账号声明了 {domain}。请删除其中一个。',
  'resource.domain_exists':
    '账号 {account} 已有域名 {domain}，由面板或先前的资源创建。如需接管，请在此设置注解 {adopt}: "true"，并在 Namespace 的 {annotation} 中列出 {account}。',
  'resource.domain_accepted': '{domain} 属于账号 {account}。',
  'resource.domain_ready': '{domain} 已验证，可以发信。',
  'resource.domain_suspended': 'spec.suspended 为 true。',
  'resource.domain_suspended_by_admin': '管理员已停用此域名。',
  'resource.domain_proven': '公共 DNS 中已有所有权记录与 DKIM 记录。',
  'resource.domain_verified_by_admin': '已由管理员验证。',
  'resource.not_checked': '尚未检查公共 DNS。',
  'resource.dns_no_answer': 'DNS 无响应。',
  'resource.proof_missing': '公共 DNS 中尚无所有权记录或 DKIM 记录。',
  'resource.dkim_no_key': '该域名没有启用中的 DKIM 密钥。',
  'resource.dkim_rotating': '{selector} 正在签名；{next} 在 DNS 中生效后接替。',
  'resource.dkim_published': '{selector} 正在签名，且已在公共 DNS 中。',
  'resource.dkim_not_checked': '尚未检查 {name}。',
  // The DNS records of a MailDomain
  'resource.dns_provider_missing': '此命名空间中没有 DNSProvider {name}。',
  'resource.dns_provider_untested': 'DNSProvider {name} 尚未测试。',
  'resource.dns_provider_not_ready': 'DNSProvider {name} 未就绪：{reason}',
  'resource.dns_written': '所有记录均已写入。',
  'resource.dns_record': '{name} {type}：{reason}',
  'resource.dns_zone_missing':
    '{reason}请在服务商处添加该区域、改用其他 DNSProvider，或将 spec.dns.managementPolicy 设为 Observe。',
  'resource.dns_conflict': '{records}请在 DNS 服务商处解决冲突，系统每 15 分钟检查一次。',
  'resource.dns_conflict_acceptable':
    '{records}请在 DNS 服务商处解决冲突，或将 spec.dns.conflictPolicy 设为 Adopt 或 Overwrite；系统每 15 分钟检查一次。',
  'resource.dns_observed': '公共 DNS 中已有所有记录。',
  'resource.dns_guidance': '请在 DNS 服务商处添加以下记录，其值见 status.records：{records}。',
  'resource.draining': '{domain} 不再接收新邮件。已接收的邮件：{count} 封，仍可投递，最多五分钟。{hint}',
  'resource.draining_unknown': '{domain} 不再接收新邮件。已接收的邮件仍可投递，最多五分钟。{hint}',
  'resource.dns_not_removed': '目前无法移除记录：{reason}将重试一小时。{hint}',
  // SMTPCredential and APIToken
  'resource.domain_missing': '此命名空间中没有 MailDomain {name}。',
  'resource.domain_not_accepted': 'MailDomain {name} 未被接受：{reason}',
  'resource.domain_not_registered': 'MailDomain {name} 尚未注册。',
  'resource.domain_unusable': '在此之前无法使用 MailDomain {name}。',
  'resource.sender_outside_domain': '{field} 中的 {address} 不属于 {domain}。',
  'resource.login_accepted': '登录名 {username} 为 {domain} 发信。',
  'resource.login_ready': '登录名 {username} 保存在 Secret {name} 中。',
  'resource.login_disabled': '登录名 {username} 已停用。',
  'resource.login_name_kept':
    '{reason}在此之前 {username} 仍是该账号的登录名：如需用于其他账号，请用不同的 spec.username 新建 SMTPCredential。',
  'resource.token_accepted': '该令牌为 {domain} 发信。',
  'resource.token_ready': '该令牌保存在 Secret {name} 中。',
  'resource.token_revoked': '该令牌已吊销。',
  // DNSProvider
  'resource.credentials_secret_missing': '此命名空间中没有 Secret {name}。',
  'resource.credentials_invalid': 'Secret {name} 有误：{errors}',
  'resource.credentials_no_key': '没有键 {key}',
  'resource.credentials_wrong_value': '{key} 的值无效（{reason}）',
  'resource.dns_account_accepted': '该账号属于 {account}。',
  'resource.credentials_accepted': '服务商接受这些凭据。区域数：{count}。',
  'resource.credentials_refused': '{reason}请将 Secret {name} 及此 spec 与服务商处的设置核对。',
  'resource.dns_provider_in_use':
    '仍有 {count} 个 MailDomain 使用此账号（{names}）。请将其删除，或为其选择其他 DNSProvider。',
  // App, SubscriptionPlan and FeatureSwitch
  'resource.app_accepted': '应用 {app} 已注册。',
  'resource.app_ready': '应用 {app} 已注册，其密钥保存在 Secret {name} 中。',
  'resource.app_missing': '此命名空间中没有 App {name}。',
  'resource.app_not_accepted': 'App {name} 未被接受：{reason}',
  'resource.app_not_registered': 'App {name} 尚未注册。',
  'resource.app_not_listed':
    '命名空间 {namespace} 已不能管理其接管的应用 {app}。有权修改该 Namespace 的用户可在注解 {annotation} 中列出 {app}。',
  'resource.app_duplicate': 'App {namespace}/{name} 更早声明了 {app}。请删除其中一个。',
  'resource.app_exists':
    '应用 {app} 已存在。如需接管，请在此设置注解 {adopt}: "true"，并在 Namespace 的 {annotation} 中列出 {app}。',
  'resource.app_in_use': '{reason}如需删除此资源并保留应用，请设置 deletionPolicy: Retain。',
  'resource.sender_fallback': '{reason}在此之前，提醒邮件由平台自己的发件人发出。',
  'resource.sender_domain_unverified':
    '{address} 不属于任何活跃管理员的已验证域名。请在具有 admin 角色的账号中验证其域名，或移除 mailFrom。',
  'resource.sender_not_allowed':
    '命名空间 {namespace} 不能代表拥有 {address} 所属域名的管理员。有权修改该 Namespace 的用户可在注解 {annotation} 中列出该账号。',
  'resource.sender_usable': '提醒邮件由 {address} 发出。',
  'resource.switch_ready': '{app} 的开关 {name} 与声明一致。',
  'resource.plan_ready': '{app} 的套餐 {name} 与声明一致。',
}
