/** End users: the fields that apps send, and their search keys. */
import type { z } from 'zod'
import { emailOrNone, text } from './field-schemas.ts'

/** The four identities; a user has at least one. */
export const identityFields = {
  openid: text(1, 128).optional(),
  unionid: text(1, 128).optional(),
  huawei_openid: text(1, 128).optional(),
  huawei_unionid: text(1, 128).optional(),
}

/** Profile fields besides the identities. */
export const profileFields = {
  nickname: text(0, 64).optional(),
  avatar: text(0, 512).optional(),
  gender: text(0, 16).optional(),
  country: text(0, 64).optional(),
  province: text(0, 64).optional(),
  city: text(0, 64).optional(),
  phone: text(0, 32).optional(),
  email: emailOrNone.optional(),
  platform: text(0, 32).optional(),
}

/** Identities, parsed. */
export type Identities = z.output<z.ZodObject<typeof identityFields>>
/** Profile, parsed. */
export type Profile = z.output<z.ZodObject<typeof profileFields>>

/** Names of the identities, exact ones before those that span apps of one developer. */
export const IDENTITIES = ['openid', 'huawei_openid', 'unionid', 'huawei_unionid'] as const

/** True when at least one identity is there. */
export function hasIdentity(given: Identities): boolean {
  return IDENTITIES.some(name => given[name] !== undefined)
}

/** Nickname, phone and email in lower case, each once. */
export function searchKeys(user: {
  nickname?: string | undefined
  phone?: string | undefined
  email?: string | undefined
}): string[] {
  const keys = [user.nickname, user.phone, user.email].map(value => value?.trim().toLowerCase() ?? '')
  return [...new Set(keys.filter(Boolean))]
}

/** Matches keys that start with the text, taken literally. */
export function prefixPattern(search: string): RegExp {
  return new RegExp(`^${search.toLowerCase().replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}`)
}
