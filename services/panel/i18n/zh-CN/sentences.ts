/**
 * The service speaks English about DNS and health; these are its sentences in Chinese. A name in braces stands for a
 * part that is taken over. A sentence without an entry is shown in English.
 */
export const sentences: Readonly<Record<string, string>> = {
  // The check of a record (records/evaluate-record.ts, records/match-record.ts)
  'The record is published; {who} still answers from its cache.': '记录已发布，{who} 仍返回缓存结果。',
  'Nothing to do: wait until the cached answer expires.': '无需操作：等待缓存过期即可。',
  '{good} has the record, {bad} does not yet.': '{good} 已有该记录，{bad} 尚未同步。',
  'Wait a few minutes; if it stays so, ask your DNS provider why its servers differ.':
    '请等待几分钟；若仍不一致，请向 DNS 服务商询问各服务器结果不同的原因。',
  'Your name servers have the record, but no resolver can tell ({said}); if it stays so, look at DNSSEC.':
    '域名服务器上已有该记录，但所有解析器都无法解析（{said}）；若持续如此，请检查 DNSSEC。',
  'The authoritative servers of the zone could not be asked.': '无法查询该区域的权威服务器。',
  'Nothing to do: the check is repeated. If it stays so, look at the name servers of the zone.':
    '无需操作：系统会再次检查。若持续如此，请检查该区域的域名服务器。',
  'Ask for the PTR record {name} → {value}. {note}': '请申请设置 PTR 记录 {name} → {value}。{note}',
  'Ask for the PTR record {name} → {value}.': '请申请设置 PTR 记录 {name} → {value}。',
  'Add at your DNS provider: {type} {name} with the value {value}':
    '请在 DNS 服务商处添加：{type} {name}，值为 {value}',
  'There is no TXT record at {name}.': '{name} 没有 TXT 记录。',
  'The TXT records at {name} are of others.': '{name} 的 TXT 记录属于其他用途。',
  'The revoked key is still published.': '已吊销的密钥仍在发布。',
  '{name} has {count} TXT records; leave only the key.': '{name} 有 {count} 条 TXT 记录，请只保留密钥。',
  'The record cannot be used: {reason}.': '该记录无法使用：{reason}。',
  'The record revokes the key (empty p=).': '该记录吊销了密钥（p= 为空）。',
  'The record holds another key.': '该记录是另一个密钥。',
  '{name} has no SPF record.': '{name} 没有 SPF 记录。',
  '{name} has {count} SPF records, which receivers take as a permanent error.':
    '{name} 有 {count} 条 SPF 记录，收件方会视为永久错误。',
  'Leave one SPF record that names all senders.': '请只保留一条包含所有发信方的 SPF 记录。',
  'The record is broken: {reason}.': '记录格式错误：{reason}。',
  'Take terms out of the record that are not needed any more, or replace includes by addresses.':
    '请删除不再需要的内容，或用地址代替 include。',
  'A part of the record cannot be looked up now.': '记录的一部分目前无法查询。',
  'The record does not name our servers ({terms}).': '记录未包含我们的服务器（{terms}）。',
  'Change the record to: {value}': '请将记录改为：{value}',
  'The policy of {at} applies ({effective}).': '适用 {at} 的策略（{effective}）。',
  '{name} has no DMARC record.': '{name} 没有 DMARC 记录。',
  '{name} has {count} DMARC records; receivers ignore them all.': '{name} 有 {count} 条 DMARC 记录，收件方会全部忽略。',
  '{name} has {count} DMARC records; receivers ignore them all. Leave one.':
    '{name} 有 {count} 条 DMARC 记录，收件方会全部忽略。请只保留一条。',
  'Leave one DMARC record.': '请只保留一条 DMARC 记录。',
  'Receivers cannot read the record.': '收件方无法解析该记录。',
  'Receivers cannot read the record: {value}': '收件方无法解析该记录：{value}',
  'The tag {tag} has no meaning any more (RFC 9989).': '标签 {tag} 已不再有意义（RFC 9989）。',
  'The flag t=y asks receivers not to enforce the policy.': '标志 t=y 要求收件方不执行该策略。',
  '{name} has no {type} record.': '{name} 没有 {type} 记录。',
  '{name} points to {value}.': '{name} 指向 {value}。',
  'The address has no PTR record; many receivers refuse mail from it.': '该地址没有 PTR 记录，许多收件方会拒收其邮件。',
  'The address is named {names}, the server says {value}.': '该地址的反向解析为 {names}，而服务器自称 {value}。',
  '{name} does not point back to {ip}.': '{name} 没有指回 {ip}。',
  'The address has several PTR records; leave one.': '该地址有多条 PTR 记录，请只保留一条。',
  'No MTA-STS record.': '没有 MTA-STS 记录。',
  'No TLS-RPT record.': '没有 TLS-RPT 记录。',
  // SPF and DKIM in detail
  'it does not begin with v=spf1': '不以 v=spf1 开头',
  '{name}= stands twice': '{name}= 出现了两次',
  'The record names our servers, but an earlier term answers first: {verdicts}.':
    '记录已包含我们的服务器，但前面的内容先行匹配：{verdicts}。',
  'Put the terms of our servers before the term that refuses them.': '请把我们服务器的内容移到拒绝它们的内容之前。',
  '"{text}" is no network': '“{text}”不是有效的网段',
  '"{text}" lacks a name that receivers can read': '“{text}”缺少收件方能够解析的名称',
  '"{text}" is no term of SPF': '“{text}”不是 SPF 内容',
  '"{text}" lacks its value': '“{text}”缺少值',
  '"{text}" takes no value': '“{text}”不能带值',
  'The term {term} comes first and does not pass our server; take it out.':
    '{term} 排在前面且不放行我们的服务器，请将其删除。',
  'The record needs {count} DNS lookups; more than {limit} are a permanent error.':
    '该记录需要 {count} 次 DNS 查询，超过 {limit} 次即为永久错误。',
  '{count} of its lookups find nothing; more than {limit} are a permanent error.':
    '其中 {count} 次查询没有结果，超过 {limit} 次即为永久错误。',
  'The record of {domain} includes itself.': '{domain} 的记录包含了自身。',
  'The record of {domain} is broken: {reason}.': '{domain} 的记录格式错误：{reason}。',
  'The mechanism ptr is slow and unreliable; RFC 7208 asks not to use it.':
    'ptr 机制缓慢且不可靠，RFC 7208 要求不要使用。',
  '{name} has no SPF record but is included.': '{name} 被引用，但没有 SPF 记录。',
  '{name} has {count} SPF records but is included.': '{name} 被引用，但有 {count} 条 SPF 记录。',
  'mx of {name} has {count} hosts; more than 10 are a permanent error.':
    '{name} 的 mx 有 {count} 台主机，超过 10 台即为永久错误。',
  '{tag} goes from strict to relaxed': '{tag} 由严格变为宽松',
  '{tag} goes from {before} to {after}': '{tag} 由 {before} 变为 {after}',
  't=y asks receivers not to enforce': 't=y 要求收件方不执行',
  'it is not a list of tag=value pairs': '不是“标签=值”的列表',
  'it has no p= tag': '没有 p= 标签',
  'its p= is not base64 (quotes or backslashes in it?)': 'p= 不是 base64（其中有引号或反斜杠？）',
  'its version is not DKIM1': '版本不是 DKIM1',
  'it says k={type}, the key is {wanted}': '记录写的是 k={type}，密钥却是 {wanted}',
  'its h= tag does not allow sha256': 'h= 标签不允许 sha256',
  'its s= tag does not allow email': 's= 标签不允许 email',
  'The flag t=y asks receivers to ignore failures; remove it.': '标志 t=y 要求收件方忽略失败，请删除。',
  'The key has {bits} bits; use 2048 (RFC 8301).': '密钥为 {bits} 位，请使用 2048 位（RFC 8301）。',
  // Notes of the guidance (records/guidance.ts)
  'Useful where this domain also receives mail: other servers then report TLS problems (RFC 8460).':
    '适用于同时收信的域名：其他服务器会报告 TLS 问题（RFC 8460）。',
  'Useful where this domain also receives mail: needs a policy at {url}, and a new id whenever the policy changes (RFC 8461).':
    '适用于同时收信的域名：需要在 {url} 提供策略，策略每次变更都要换新的 id（RFC 8461）。',
  'This key is revoked; the record may go.': '该密钥已吊销，记录可以删除。',
  'The old key: keep the record while queued mail may carry its signature.':
    '旧密钥：队列中的邮件可能仍带有它的签名，请暂时保留记录。',
  'Set at whoever gave you the address {ip} (hosting or IP provider), not at your DNS provider.':
    '请在提供地址 {ip} 的主机商或网络服务商处设置，而不是 DNS 服务商。',
  // The plan (rules/dns-plan*.ts)
  '{name} is a CNAME to {value}; no other record can stand beside it.':
    '{name} 是指向 {value} 的 CNAME，不能与其他记录并存。',
  'It is there.': '已存在。',
  'It is missing.': '缺失。',
  '{name} is proxied, which hides its SMTP service.': '{name} 开启了代理，会隐藏其 SMTP 服务。',
  'The address of the server changed.': '服务器地址已变更。',
  'It was changed.': '已被更改。',
  'The record at {name} is disabled; enable it at your DNS provider.': '{name} 的记录已停用，请在 DNS 服务商处启用。',
  'The record at {name} is locked; unlock it at your DNS provider.': '{name} 的记录已锁定，请在 DNS 服务商处解锁。',
  'The value has {bytes} bytes; your DNS provider takes {limit} in a TXT record.':
    '该值有 {bytes} 字节，而您的 DNS 服务商的 TXT 记录最多 {limit} 字节。',
  'Your DNS account does not hold a zone for {name}.': '您的 DNS 账号中没有 {name} 所属的区域。',
  'It is not written by us; the operator of this service or you set it.':
    '不由我们写入，请由本服务的运维人员或您自行设置。',
  'We wrote it, and it is no longer needed.': '由我们写入，现已不再需要。',
  'The key is gone already.': '密钥已不存在。',
  '{name} has {count} TXT records; receivers take any of them.':
    '{name} 有 {count} 条 TXT 记录，收件方可能取其中任意一条。',
  'The key is there.': '密钥已存在。',
  'The record is not ours; it stays.': '该记录不属于我们，保持不变。',
  '{name} holds another key.': '{name} 是另一个密钥。',
  'The key is revoked.': '密钥已吊销。',
  'The record was revoked by somebody.': '该记录已被他人吊销。',
  'The record was changed by somebody.': '该记录已被他人更改。',
  'Replaces {value}, as you chose.': '按您的选择替换 {value}。',
  'This would weaken the policy: {losses}.': '这会削弱策略：{losses}。',
  'The policy that you chose changed.': '您选择的策略已变更。',
  'The domain has a policy of its own; it stays.': '该域名已有自己的策略，保持不变。',
  'The policy above cannot be read now ({reason}); try again later.': '目前无法读取上级策略（{reason}），请稍后再试。',
  'The domain has no DMARC record.': '该域名没有 DMARC 记录。',
  'Strengthens the policy of {at}.': '加强 {at} 的策略。',
  'The policy of {at} applies ({effective}); a record here would weaken it.':
    '适用 {at} 的策略（{effective}），在此添加记录会削弱它。',
  '{reason} You chose to replace it.': '{reason}您选择了替换。',
  'The record is locked; unlock it at your DNS provider.': '该记录已锁定，请在 DNS 服务商处解锁。',
  'We wrote it.': '由我们写入。',
  'Puts back the record as it was before us.': '恢复为我们写入之前的记录。',
  'Takes our terms out of the record.': '从记录中移除我们的内容。',
  'The domain has no SPF record.': '该域名没有 SPF 记录。',
  'The sending servers changed.': '发信服务器已变更。',
  'The SPF record is broken: {reason}. Correct it first.': 'SPF 记录格式错误：{reason}。请先更正。',
  'The record has {bytes} bytes; beyond {limit} some resolvers fail.':
    '记录有 {bytes} 字节，超过 {limit} 字节时部分解析器会失败。',
  'The record names our servers.': '记录已包含我们的服务器。',
  'Adds {terms} to the record that is there.': '在现有记录中加入 {terms}。',
  'Takes out terms that we added and that are no longer needed.': '移除我们添加且不再需要的内容。',
  'Another SPF record appeared; ours gives way and is merged into it.': '出现了另一条 SPF 记录，我们的内容已并入其中。',
  'The domain has {count} SPF records, which is a permanent error; leave one, as proposed.':
    '该域名有 {count} 条 SPF 记录，属于永久错误；请按建议只保留一条。',
  '{zone} is delegated to {servers}, not to {expected}: what is written there is not served.':
    '{zone} 委派给了 {servers}，而不是 {expected}：写入的内容不会生效。',
  // Writing (domains/apply/, domains/publish-records.ts, dns/dns-context.ts) and the providers (dns/)
  'The zone changes all the time; another program seems to write the same records.':
    '区域不断变化，似乎有其他程序在写入相同的记录。',
  'The zone changed since this plan was made; look at the new plan.': '该计划制定后区域已发生变化，请查看新的计划。',
  'The domain is gone; no records are written for it.': '该域名已删除，不再为其写入记录。',
  'The domain is about to go, and its records are being taken back; if it stays, try again in five minutes.':
    '该域名即将删除，正在撤回其记录；如果域名仍保留，请五分钟后重试。',
  'The credentials of the DNS account cannot be opened; store them again.': 'DNS 账号的凭据无法解密，请重新保存。',
  'The provider took the record but does not list it yet.': '服务商已接受该记录，但尚未列出。',
  'The domain changed or was checked again meanwhile; look at it, and check again.':
    '该域名在检查期间发生了变化或被再次检查，请查看后重新检查。',
  'Another account has verified this name in this moment.': '另一个账号刚刚验证了该域名。',
  'The call limit of the DNS provider is used up; try again in {seconds} s.':
    'DNS 服务商的调用次数已用完，请在 {seconds} 秒后重试。',
  'the check ran out of time': '检查超时',
  'no resolver is configured': '未配置解析器',
  'it is not authoritative for the zone': '它不是该区域的权威服务器',
  // What is wrong with a field (rules and contracts of accounts and mail)
  'must be a network like 192.0.2.0/24': '必须是形如 192.0.2.0/24 的网络',
  'must be an address like user@example.com or a domain like @example.com':
    '必须是形如 user@example.com 的地址或形如 @example.com 的域名',
  'must have 1 to 128 letters, digits or . _ @ + - and begin with a letter or digit':
    '须为 1 到 128 个字母、数字或 . _ @ + - ，并以字母或数字开头',
  'must have at least {count} characters': '至少 {count} 个字符',
  'must have at most {count} characters': '最多 {count} 个字符',
  'must not contain control characters': '不能包含控制字符',
  'is not a domain name': '不是域名',
  'is an address, not a domain name': '是 IP 地址，不是域名',
  'is too long: records stand below it, and {count} characters leave room for them':
    '过长：其下还要放置记录，最多 {count} 个字符',
  'is a public suffix ({suffix}); nobody can own it': '是公共后缀（{suffix}），任何人都不能拥有',
  'You have no domain {name}.': '您没有域名 {name}。',
  'Give text, html or both.': '请填写 text、html 或两者。',
  'Give at least one recipient in to.': '请至少填写一个收件人。',
  'An RSA key has 1024 to 2048 bits here; this one has {bits}.':
    '此处 RSA 密钥须为 1024 到 2048 位，该密钥为 {bits} 位。',
  'This is not a private key in PEM form without a passphrase.': '这不是无密码保护的 PEM 格式私钥。',
  'DKIM signs with RSA or Ed25519; this is a key of type {type}.':
    'DKIM 使用 RSA 或 Ed25519 签名，该密钥类型为 {type}。',
  'no delegation was found': '未找到委派',
  'name servers: {reason}': '域名服务器：{reason}',
  'the name servers of {zone} have no usable address': '{zone} 的域名服务器没有可用地址',
  'Aliyun DNS has suspended the zone (black hole): it is not served.': '阿里云 DNS 已暂停该区域（黑洞），不提供解析。',
  'The access key lacks the RAM permission {permission}.': '该 AccessKey 缺少 RAM 权限 {permission}。',
  'Aliyun asks to slow down.': '阿里云要求降低请求频率。',
  'Aliyun refused it: {message}.': '阿里云拒绝：{message}。',
  'The DNS server does not answer: {reason}.': 'DNS 服务器无响应：{reason}。',
  'The server refuses updates of {zone} with this key (update policy).':
    '服务器不允许用该密钥更新 {zone}（更新策略）。',
  'The server is not authoritative for {zone}.': '该服务器不是 {zone} 的权威服务器。',
  '{name} is delegated away from {zone} on this server.': '在该服务器上，{name} 已从 {zone} 委派出去。',
  'The DNS server answered {code}.': 'DNS 服务器返回 {code}。',
  '{name} has records that nothing can stand beside (CNAME).': '{name} 的现有记录不能与其他记录并存（CNAME）。',
  'The record changed in the meantime.': '记录在此期间发生了变化。',
  'The record set changed in the meantime.': '记录集在此期间发生了变化。',
  'the answer is not signed': '响应未签名',
  'the server finds the signature wrong': '服务器认为签名错误',
  'the server does not know the key': '服务器不认识该密钥',
  'connection refused': '连接被拒绝',
  timeout: '超时',
  'the connection was cut before the answer': '连接在响应前中断',
  'The zone has the status {status} at DNSPod: it is not served.': '该区域在 DNSPod 的状态为 {status}，不提供解析。',
  'The zone is not delegated to the name servers of DNSPod.': '该区域未委派给 DNSPod 的域名服务器。',
  'The API secret lacks the CAM permission {permission}.': '该 API 密钥缺少 CAM 权限 {permission}。',
  'DNSPod asks to slow down.': 'DNSPod 要求降低请求频率。',
  'DNSPod refused it: {message}.': 'DNSPod 拒绝：{message}。',
  'The zone {name} is in {count} accounts of this token; store the zone id as well.':
    '区域 {name} 存在于该令牌的 {count} 个账号中，请同时填写区域 ID。',
  'The zone is {status} at Cloudflare: what is written there is not served yet.':
    '该区域在 Cloudflare 的状态为 {status}：写入的内容尚未生效。',
  'The zone is paused at Cloudflare.': '该区域在 Cloudflare 已暂停。',
  'The zone is a partial (CNAME) setup: its DNS is served elsewhere.': '该区域为部分（CNAME）接入，DNS 由别处提供。',
  'The API token is not valid here or lacks the permission {permission}.':
    'API 令牌在此无效，或缺少权限 {permission}。',
  'Cloudflare asks to wait {seconds} s.': 'Cloudflare 要求等待 {seconds} 秒。',
  'Cloudflare refused it: {message}.': 'Cloudflare 拒绝：{message}。',
  'The DNS provider cannot be reached.': '无法连接 DNS 服务商。',
  'The connection to the DNS provider was lost before its answer.': '与 DNS 服务商的连接在响应前中断。',
  'The DNS provider asks to wait {seconds} s.': 'DNS 服务商要求等待 {seconds} 秒。',
  'The DNS provider answered in a form that is not known.': 'DNS 服务商的响应格式无法识别。',
  'The DNS provider answered {status} and no JSON.': 'DNS 服务商返回 {status}，且不是 JSON。',
  // Health (rules/health.ts)
  'The database answers.': '数据库有响应。',
  'The database does not answer.': '数据库无响应。',
  "The clock of this machine agrees with the database's.": '本机时钟与数据库一致。',
  "The clock of this machine is {seconds} s ahead of the database's; check its time synchronisation.":
    '本机时钟比数据库快 {seconds} 秒，请检查时间同步。',
  "The clock of this machine is {seconds} s behind the database's; check its time synchronisation.":
    '本机时钟比数据库慢 {seconds} 秒，请检查时间同步。',
  'Delivery workers at work: {count}.': '工作中的投递进程：{count} 个。',
  'No delivery worker is at work; accepted mail waits.': '没有投递进程在工作，已接收的邮件在等待。',
  'MAIL_HOSTNAME {hostname} is no public name; many receivers refuse it.':
    'MAIL_HOSTNAME {hostname} 不是公网名称，许多收件方会拒收。',
  'The host calls itself {hostname}.': '主机自称 {hostname}。',
  'SENDING_IP is not set; SPF and PTR cannot be checked for it.': '未设置 SENDING_IP，无法检查 SPF 与 PTR。',
  'Not needed for DELIVERY_MODE={mode}.': 'DELIVERY_MODE={mode} 时不需要。',
  '{peer} sends forwarding headers and is not in TRUSTED_PROXIES: all clients behind it share its address and limits. If it is your reverse proxy, add its network.':
    '{peer} 发来了转发请求头，但不在 TRUSTED_PROXIES 中：其后的所有客户端共用该地址及其限额。如果它是您的反向代理，请把其网段加入该设置。',
  'Forwarding headers count from {networks}.': '采信来自 {networks} 的转发请求头。',
  'No reverse proxy is trusted, and none was seen.': '未信任任何反向代理，也未发现反向代理。',
  'The oldest due mail waits {seconds} s.': '最早到期的邮件已等待 {seconds} 秒。',
  'Nothing waits.': '没有邮件在等待。',
}
