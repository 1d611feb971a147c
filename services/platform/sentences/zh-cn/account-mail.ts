/** Mail about accounts: subjects, and texts with a link. */
import type { accountMail as english } from '../en/account-mail.ts'

export const accountMail: Readonly<Record<keyof typeof english, string>> = {
  'mail.reset_subject': '设置新密码',
  'mail.reset_text':
    '{name}，您好：\n\n有人（可能是您本人）为您的 Postwright 账号 {name} 申请了新密码。请在一小时内打开以下页面进行设置：\n\n{link}\n\n该链接只能使用一次。如果不是您本人操作，请忽略此邮件，密码不会改变。\n',
  'mail.was_reset_subject': '您的密码已修改',
  'mail.was_reset_text':
    '{name}，您好：\n\n您的 Postwright 账号 {name} 的密码已通过邮件链接重新设置，所有会话均已结束。如果不是您本人操作，请立即重新申请密码并告知管理员：\n\n{link}\n',
  'mail.confirm_subject': '确认您的邮箱地址',
  'mail.confirm_text':
    '{name}，您好：\n\nPostwright 账号 {name} 填写了此邮箱地址。请在 24 小时内打开以下页面进行确认：\n\n{link}\n\n如果不是您本人操作，请忽略此邮件，不会有任何改变。\n',
  'mail.email_changed_subject': '您的邮箱地址已修改',
  'mail.email_changed_text':
    '{name}，您好：\n\n您的 Postwright 账号 {name} 已更换或移除邮箱地址，有关该账号的邮件不再发送到此处。如果不是您本人操作，请立即告知管理员：\n\n{link}\n',
  'mail.invitation_subject': '邀请您使用 Postwright',
  'mail.invitation_text':
    '您好：\n\n{name} 邀请您使用 Postwright。请在 7 天内打开以下页面，选择用户名和密码：\n\n{link}\n\n该链接只能使用一次。如果您不认识发件人，请忽略此邮件。\n',
}
