/** 密码以外的登录方式：登录服务与通行密钥。 */
import type { waysIn as english } from '../en/ways-in.ts'

export const waysIn: Readonly<Record<keyof typeof english, string>> = {
  'detail.password_login_off': '本系统已停用密码登录。',
  'detail.oidc_off': '本系统没有配置登录服务。',
  'detail.oidc_denied': '登录服务上的登录被取消或拒绝。',
  'detail.oidc_error': '登录服务返回错误 {error}。',
  'detail.oidc_invalid': '登录服务的响应无效，请重新开始。',
  'detail.oidc_no_email': '登录服务没有提供邮箱地址，请联系管理员开启。',
  'detail.oidc_unverified': '登录服务尚未验证 {email}，因此无法对应到这里的账号。',
  'detail.oidc_no_account': '没有与 {email} 对应的账号。请用其他方式登录并在设置中确认此地址，或请管理员发送邀请。',
  'detail.oidc_ambiguous': '多个账号使用地址 {email}，请改用密码登录。',
  'detail.oidc_linked': '使用地址 {email} 的账号属于登录服务中的另一个人。',
  'detail.passkeys_off': '通行密钥需要主机名，而 APP_BASE_URL 是 IP 地址。',
  'detail.passkey_most': '一个账号最多可以有 {count} 个通行密钥。',
  'detail.passkey_known': '此通行密钥已经注册。',
  'detail.no_passkey': '没有这个通行密钥。',
  'detail.passkey_unknown': '此通行密钥不属于这里的任何账号，可能已被移除。',
  'detail.passkey_invalid': '通行密钥的响应无效，请重新开始。',
}
