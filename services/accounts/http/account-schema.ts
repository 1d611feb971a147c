/** An account in requests and responses. */
import { z } from 'zod'
import { reason } from '../../platform/sentences/issue-reason.ts'
import { ACCOUNT_ROLES } from '../members/rules/member-role.ts'
import { time } from './contract-parts.ts'

/** Language of panel and mail. */
export const lang = z.enum(['en', 'zh'])
/** IANA time zone. */
export const tz = z
  .string()
  .max(64)
  .refine(isTimeZone, reason('field.time_zone'))
  .meta({ format: 'time-zone', examples: ['Asia/Shanghai'] })

/** An account as its owner and admins see it. */
export const user = z
  .strictObject({
    object: z.literal('user'),
    id: z.string(),
    username: z.string(),
    email: z.string().nullable().describe('Confirmed by its owner; mail about the account goes there.'),
    role: z.enum(['admin', 'user']),
    status: z.enum(['active', 'suspended']),
    lang,
    lang_chosen: z.boolean().describe('Whether the user chose the language; until then the panel follows the browser.'),
    tz: z.string(),
    recipients_per_day: z.number().int().describe('To how many recipients it may send in a day (UTC); 0 = no limit.'),
    managed_by: z.strictObject({ kind: z.string(), namespace: z.string(), name: z.string() }).nullable(),
    created_at: time,
  })
  .meta({ id: 'User' })

/** An account in which a user works: the own one, or one of another user. */
export const workingAccount = z
  .strictObject({
    id: z.string().describe('The id of the user who owns it.'),
    name: z.string(),
    role: z.enum(ACCOUNT_ROLES),
    suspended: z.boolean(),
  })
  .meta({ id: 'WorkingAccount' })

/** The logged-in account, and what the panel needs to show the permitted pages. */
export const session = z
  .strictObject({
    object: z.literal('session'),
    user,
    account: workingAccount.describe('The account in which the session works.'),
    accounts: z.array(workingAccount).describe('All accounts in which the user may work, the own one first.'),
    /** In capture mode nothing leaves the service. */
    delivery_mode: z.enum(['direct', 'relay', 'capture']),
    /** Rights of the account in the subscription module; null: none. */
    subscription_role: z.enum(['super', 'operator', 'viewer']).nullable(),
    /** The time zone of the times in the subscription module. */
    business_time_zone: z.string(),
  })
  .meta({ id: 'Session' })

function isTimeZone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
