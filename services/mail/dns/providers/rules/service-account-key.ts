/** The key of a Google service account, a JSON file. */
import { z } from 'zod'

const schema = z.object({
  type: z.literal('service_account'),
  project_id: z.string().regex(/^[a-z0-9.:-]{1,100}$/),
  client_email: z.string().min(3).max(254),
  private_key_id: z.string().max(100).default(''),
  private_key: z.string().includes('PRIVATE KEY'),
})

export type ServiceAccountKey = z.output<typeof schema>

/** The key in a text; undefined for anything else, also for the key of another kind of identity. */
export function parseServiceAccountKey(text: string): ServiceAccountKey | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
