/** Payment channels on the wire. */
import { z } from 'zod'
import { dateTime, flag } from '../../http/shared/wire-values.ts'

/** A payment channel of an app; secrets only as whether they are set. */
export const channelRecord = z
  .object({
    channel: z.string(),
    enabled: flag,
    settings: z.record(z.string(), z.string()),
    secrets: z.record(z.string(), z.boolean()),
    notify_path: z.string(),
    updated_at: dateTime,
  })
  .meta({ id: 'PaymentChannel' })
