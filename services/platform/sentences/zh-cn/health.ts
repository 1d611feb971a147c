/** The state of the parts that mail needs. */
import type { health as english } from '../en/health.ts'

export const health: Readonly<Record<keyof typeof english, string>> = {
  'health.database_ok': '数据库有响应。',
  'health.database_down': '数据库无响应。',
  'health.clock_ok': '本机时钟与数据库一致。',
  'health.clock_ahead': '本机时钟比数据库快 {seconds} 秒，请检查时间同步。',
  'health.clock_behind': '本机时钟比数据库慢 {seconds} 秒，请检查时间同步。',
  'health.workers_ok': '运行中的投递进程：{count} 个。',
  'health.workers_none': '没有投递进程在运行，已接收的邮件在等待。',
  'health.hostname_ok': '主机自称 {hostname}。',
  'health.hostname_private': 'MAIL_HOSTNAME {hostname} 不是公网名称，许多收件方会拒收。',
  'health.sending_ip_missing': '未设置 SENDING_IP，无法检查 SPF 与 PTR。',
  'health.sending_ip_unused': 'DELIVERY_MODE={mode} 时不需要。',
  'health.sending_ip_set': '{addresses}',
  'health.proxy_untrusted':
    '{peer} 发来了转发请求头，但不在 TRUSTED_PROXIES 中：其后的所有客户端共用该地址及其限额。如果它是您的反向代理，请把其网段加入该设置。',
  'health.proxies_trusted': '采信来自 {networks} 的转发请求头。',
  'health.proxies_none': '未信任任何反向代理，也未发现反向代理。',
  'health.queue_waits': '最早到期的邮件已等待 {seconds} 秒。',
  'health.queue_empty': '没有邮件在等待。',
}
