/** Members of an account: mail, and what is refused. */
import type { members as english } from '../en/members.ts'

export const members: Readonly<Record<keyof typeof english, string>> = {
  'mail.member_invitation_subject': '邀请您加入账号 {account}',
  'mail.member_invitation_text':
    '您好：\n\n{name} 邀请您加入 Postwright 账号 {account}。请在 7 天内打开以下页面，用已有用户或新用户加入：\n\n{link}\n\n该链接只能使用一次。如果您不认识发件人，请忽略此邮件。\n',
  'detail.account_of_suspended': '账号 {name} 已停用。',
  'detail.role_needed': '此操作需要账号中的 {role} 或更高角色；您的角色是 {own}。',
  'detail.role_not_assignable': '您的角色不能授予、更改或撤销角色 {role}。',
  'detail.owner_stays': '账号所有者不能更改角色，也不能离开账号。',
  'detail.no_member': '该账号没有此成员。',
  'detail.member_already': '{name} 已属于该账号。',
  'detail.members': '每个账号最多有 {count} 个成员和邀请，每个用户最多加入 {count} 个账号。',
  'detail.other_address': '该邀请发给 {email}，而您确认的是另一个地址。',
  'field.role_lacks_scope': '您在账号中的角色不包含权限 {scope}。',
}
