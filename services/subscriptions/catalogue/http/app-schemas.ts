/** Apps and their credentials on the wire. */
import { z } from 'zod'
import { dateTime, digits, flag, pagination } from '../../http/shared/wire-values.ts'

export const appRecord = z
  .object({
    id: digits,
    app_key: z.string(),
    app_name: z.string(),
    app_description: z.string(),
    status: flag,
    created_at: dateTime,
    updated_at: dateTime,
    require_signature: flag,
    mail_from: z.string(),
    version: digits,
    managed_by: z.string().optional(),
  })
  .meta({ id: 'App' })

/** A new app with its credentials, which are shown only in this response. */
export const createdApp = appRecord
  .extend({ publishable_key: z.string(), app_secret: z.string() })
  .meta({ id: 'CreatedApp' })

/** A page of apps. */
export const appList = z
  .object({
    apps: z.array(appRecord),
    pagination,
    filters: z.object({ search: z.string(), status: z.string() }),
  })
  .meta({ id: 'AppList' })

/** A credential of an app; `secret` is only in the response that creates it. */
export const credentialRecord = z
  .object({
    id: z.string(),
    kind: z.enum(['publishable', 'secret', 'hmac']),
    key: z.string(),
    status: flag,
    created_at: dateTime,
    secret: z.string().optional(),
  })
  .meta({ id: 'Credential' })
