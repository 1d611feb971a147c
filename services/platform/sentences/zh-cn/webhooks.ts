import type { webhooks as texts } from '../en/webhooks.ts'

export const webhooks: Record<keyof typeof texts, string> = {
  'webhook.timeout': '未在限时内响应',
  'webhook.tls': 'TLS 失败：{error}',
  'webhook.connection': '无法连接：{error}',
  'webhook.private_address': '{host} 不是公网地址；设置 WEBHOOK_ALLOW_PRIVATE=true 可放行',
  'webhook.no_public_address': '{host} 没有公网地址；设置 WEBHOOK_ALLOW_PRIVATE=true 可放行',
  'webhook.tls_required': '{protocol}// 未加密；设置 WEBHOOK_ALLOW_PRIVATE=true 可放行',
  'webhook.url_login': '地址中包含用户名或密码',
  'webhook.answer_too_long': '响应超过 {bytes} 字节',
  'webhook.redirect': '接收方响应 {status}：不跟随重定向',
  'webhook.no_secret': '无法解开此 Webhook 的密钥：{error}',
  'webhook.off': 'Webhook 已停用',
  'webhook.removed': 'Webhook 已删除',
  'webhook.dropped': '已丢弃：等待中的较新事件超过 {limit} 条',
  'webhook.gone': '接收方响应 410：不再接收事件',
  'webhook.failing': '最近 {days} 天的所有尝试都失败了',
  'mail.webhook_disabled_subject': 'Webhook 已停用：{name}',
  'mail.webhook_disabled_text':
    'Webhook“{name}”已于 {at} 停用。\n\n地址：{url}\n\n原因：{reason}。\n\n停用期间发生的事件不会为它保存。重新启用后，可以重放最近几天的事件：\n\n{link}',
  'detail.webhook_unknown': '此账号没有这个 Webhook',
  'detail.webhook_limit': '每个账号最多 {count} 个 Webhook',
  'detail.webhook_off': 'Webhook 已停用：请先启用',
  'detail.delivery_unknown': '此 Webhook 没有这次投递',
  'detail.delivery_waits': '这次投递仍在等待尝试',
}
