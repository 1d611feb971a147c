/** Administrators on the wire. */
import { z } from 'zod'
import { dateTime, digits, flag } from '../../http/shared/wire-values.ts'

/** An administrator. */
export const adminRecord = z
  .object({
    id: digits,
    username: z.string(),
    name: z.string(),
    email: z.string(),
    last_login_time: z.string(),
    last_login_ip: z.string(),
    status: flag,
    created_at: dateTime,
    updated_at: dateTime,
    role: z.enum(['super', 'operator', 'viewer']),
    app_keys: z.array(z.string()),
  })
  .meta({ id: 'Admin' })
