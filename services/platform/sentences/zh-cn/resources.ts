/** Messages of the conditions of Kubernetes resources. */
import type { resources as english } from '../en/resources.ts'

export const resources: Readonly<Record<keyof typeof english, string>> = {
  // Any resource
  'resource.database_unavailable': '数据库无响应，正在重试。',
  'resource.forbidden':
    'API server 拒绝了 operator 的请求：{detail}。正在重试。如果该命名空间被删除后又重新创建，其中缺少 operator 的 Role：执行 helm upgrade 即可重新创建。',
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
  'resource.spf_mechanism':
    'spec.spf.mechanisms 中的 {mechanism} 无法被接收方解析。请填写带有值的机制，例如 ip4:192.0.2.0/24。',
  'resource.domain_accepted': '{domain} 属于账号 {account}。',
  'resource.domain_ready': '{domain} 已验证，可以发信。',
  'resource.domain_suspended': 'spec.suspended 为 true。',
  'resource.domain_suspended_by_admin': '管理员已停用此域名。',
  'resource.domain_proven': '公共 DNS 中已有所有权记录与 DKIM 记录。',
  'resource.domain_verified_by_admin': '已由管理员验证。',
  'resource.not_checked': '尚未检查公共 DNS。',
  'resource.dns_no_answer': 'DNS 无响应。',
  'resource.verification_expired':
    '所有权记录和 DKIM 记录在 14 天内未出现在公共 DNS 中，检查已停止。请发布这些记录，然后在域名页面点击“立即检查”，或重新创建此资源。',
  'resource.proof_missing': '公共 DNS 中尚无所有权记录或 DKIM 记录。',
  'resource.dkim_no_key': '该域名没有启用中的 DKIM 密钥。',
  'resource.dkim_rotating': '{selector} 正在签名；{next} 在 DNS 中生效后接替。',
  'resource.dkim_published': '{selector} 正在签名，且已在公共 DNS 中。',
  'resource.dkim_not_checked': '尚未检查 {name}。',
  // The DNS records of a MailDomain
  'resource.dns_provider_missing': '此命名空间中没有 DNSProvider {name}。',
  'resource.dns_provider_untested': 'DNSProvider {name} 尚未测试。',
  'resource.dns_provider_not_ready': 'DNSProvider {name} 未就绪：{reason}',
  'resource.cluster_provider_unwatched':
    '无法使用 ClusterDNSProvider {name}：operator 仅监视部分命名空间（operator.watchNamespaces）。请使用此命名空间中的 DNSProvider。',
  'resource.cluster_provider_missing': '没有 ClusterDNSProvider {name}。',
  'resource.cluster_provider_untested': 'ClusterDNSProvider {name} 尚未测试。',
  'resource.cluster_provider_not_ready': 'ClusterDNSProvider {name} 未就绪：{reason}',
  'resource.cluster_provider_namespace':
    'ClusterDNSProvider {name} 不允许命名空间 {namespace}。不会写入任何记录；已写入的记录保持不变。集群管理员可在 spec.allowedNamespaces 中允许该命名空间。',
  'resource.cluster_provider_domain':
    'ClusterDNSProvider {name} 不允许域名 {domain}。不会写入任何记录；已写入的记录保持不变。集群管理员可在 spec.allowedDomains 中允许该域名。',
  'resource.cluster_provider_policy':
    'ClusterDNSProvider {name} 不允许 spec.dns.conflictPolicy 为 {policy}。不会写入任何记录；已写入的记录保持不变。',
  'resource.cluster_provider_taken':
    'ClusterDNSProvider {name} 已为另一账号写入 {domain} 的记录。在删除那个 MailDomain 之前，不会写入任何记录。',
  'dns_endpoint.disabled': 'DNSEndpoint 对象未启用：请在 chart 的 values 中将 operator.dnsEndpoints 设为 true。',
  'dns_endpoint.namespace':
    '命名空间 {namespace} 不得通过 external-dns 发布记录。不会写入任何内容；已写入的 DNSEndpoint 保持不变。安装的管理员可在设置 DNS_ENDPOINT_NAMESPACES 中列出该命名空间。',
  'dns_endpoint.domain':
    '域名 {domain} 不得通过 external-dns 发布。不会写入任何内容；已写入的 DNSEndpoint 保持不变。安装的管理员可在设置 DNS_ENDPOINT_DOMAINS 中列出该域名。',
  'dns_endpoint.metadata':
    'spec.dns.dnsEndpoint.{field} 不得包含 {keys}。不会写入任何内容；已写入的 DNSEndpoint 保持不变。请移除以 postwright.dev/ 开头的键，以及除 external-dns.alpha.kubernetes.io/controller 之外以 external-dns.alpha.kubernetes.io/ 开头的键。',
  'dns_endpoint.foreign':
    '已存在不是由此 MailDomain 创建的 DNSEndpoint {name}。请将其删除，或为 MailDomain 使用其他名称。',
  'dns_endpoint.forbidden': 'operator 无权写入 DNSEndpoint 对象；chart 的 operator.dnsEndpoints 会授予该权限：{reason}',
  'dns_endpoint.unknown_kind': '集群中没有 DNSEndpoint 类型：请安装 external-dns 的 CustomResourceDefinition。',
  'dns_endpoint.refused': 'API server 拒绝该 DNSEndpoint：{reason}',
  'dns_endpoint.published': 'external-dns 已发布 DNSEndpoint 的所有记录。',
  'dns_endpoint.waiting':
    'external-dns 已读取 DNSEndpoint {name}，但尚未发布以下记录：{records}。原因见其日志；它需要包含 TXT、CNAME 和 MX 的 --managed-record-types，并且必须拥有这些记录集。',
  'dns_endpoint.unread':
    'external-dns 尚未读取 DNSEndpoint {name}，其中包含以下记录：{records}。它需要 --source=crd、对 dnsendpoints 和 dnsendpoints/status 的权限，以及能选中该对象的过滤条件。',
  'resource.dns_written': '所有记录均已写入。',
  'resource.dns_record': '{name} {type}：{reason}',
  'resource.dns_zone_missing':
    '{reason}请在服务商处添加该区域、改用其他 DNSProvider，或将 spec.dns.managementPolicy 设为 Observe。',
  'resource.dns_conflict': '{records}请在 DNS 服务商处解决冲突，系统每 15 分钟检查一次。',
  'resource.dns_conflict_acceptable':
    '{records}请在 DNS 服务商处解决冲突，或将 spec.dns.conflictPolicy 设为 Adopt 或 Overwrite；系统每 15 分钟检查一次。',
  'resource.dns_observed': '公共 DNS 中已有所有记录。',
  'resource.dns_drifted': '公共 DNS 中缺少以下已写入的记录，或其值不同：{records}。将重新写入。',
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
    '{reason}在此之前 {username} 仍是该账号的登录名：如需用于其他账号，请用不同的 spec.username 创建 SMTPCredential。',
  'resource.token_accepted': '该令牌为 {domain} 发信。',
  'resource.token_ready': '该令牌保存在 Secret {name} 中。',
  'resource.token_scopes_mixed':
    '账号范围的权限（domains、suppressions、templates、webhooks）不能与 emails 和 inbox 的权限合用：请为其单独创建 APIToken。',
  'resource.token_revoked': '该令牌已吊销。',
  // Template
  'resource.template_accepted': '模板 {name} 属于账号 {account}。',
  'resource.template_ready': '模板 {name} 的版本 {version} 已发布。',
  'resource.config_map_missing': '此命名空间中没有 ConfigMap {name}。',
  'resource.config_map_key_missing': 'ConfigMap {name} 没有键 {key}，或其值不是文本。',
  'resource.variable_default': '变量 {name} 的默认值不是 JSON 数组。',
  // WebhookEndpoint
  'resource.webhook_accepted': '{owner} 的事件发送到 {host}。',
  'resource.webhook_ready': '{owner} 的事件发送到 {host}；签名密钥保存在 Secret {name} 中。',
  'resource.webhook_off': 'spec.enabled 为 false：不发送事件。签名密钥保存在 Secret {name} 中。',
  'resource.webhook_off_record': '此资源接管该 Webhook 时它已停用；如需发送事件，请将 spec.enabled 设为 true。',
  'resource.webhook_answers': '接收方接受事件（如果已有事件）。',
  'resource.webhook_failing': '自 {since} 起所有尝试均失败。该 Webhook 的投递日志记录了接收方的应答。',
  'resource.webhook_disabled':
    '平台已于 {at} 停用该 Webhook：{reason}请修复接收方，然后将注解 {annotation} 设为当前时间以重新发送事件。',
  'resource.annotation_time': '注解 {annotation} 不是形如 2026-11-24T10:00:00Z 的时间。',
  'resource.domain_other_account':
    'MailDomain {name} 所属账号不是 {other}。domainRefs 中的所有域名须属于同一账号；如已填写 spec.owner，则为其所指账号。',
  // DNSProvider
  'resource.credentials_secret_missing': '此命名空间中没有 Secret {name}。',
  'resource.credentials_secret_missing_in': '命名空间 {namespace} 中没有 Secret {name}。',
  'resource.credentials_none_invalid': '服务商设置无效：{errors}。',
  'resource.credentials_invalid': 'Secret {name} 有误：{errors}',
  'resource.credentials_no_key': '没有键 {key}',
  'resource.credentials_wrong_value': '{key} 的值无效（{reason}）',
  'resource.dns_account_accepted': '该账号属于 {account}。',
  'resource.cluster_secret_namespace':
    'ClusterDNSProvider 只能引用 operator 所在命名空间以及设置 CLUSTER_DNS_SECRET_NAMESPACES 所列命名空间中的 Secret：{namespace} 不在其中。',
  'resource.cluster_provider_accepted': '该账号为允许的命名空间写入 {domains} 的记录。',
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
