/** The first admin, from the configuration. */

import type { z } from 'zod'
import { validate } from '../platform/json/bounded-validation.ts'
import type { Foundation } from '../platform/process/run.ts'
import { inEnglish } from '../platform/sentences/sentence.ts'
import { createUser } from './manage-accounts.ts'
import { newPassword } from './rules/password.ts'
import { username } from './rules/username.ts'
import { findFirstAdmin, findUserByName, type UserDoc } from './store/users.ts'

/**
 * Creates the account of ADMIN_USERNAME when it is missing; an existing one keeps its password. Returns the oldest
 * admin, for whom the first SMTP login and API_TOKEN act. Throws when a setting is not valid for an account.
 */
export async function ensureFirstAdmin({
  config,
  mongo,
  clock,
  log,
}: Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log'>): Promise<UserDoc | undefined> {
  const { ADMIN_USERNAME, ADMIN_PASSWORD } = config
  if (ADMIN_USERNAME !== undefined && ADMIN_PASSWORD !== undefined) {
    const name = setting('ADMIN_USERNAME', username, ADMIN_USERNAME)
    const password = setting('ADMIN_PASSWORD', newPassword, ADMIN_PASSWORD)
    if (!(await findUserByName(mongo.db, name))) {
      await createUser({ mongo, clock }, { username: name, password, role: 'admin', lang: 'en', tz: 'UTC' })
        .then(({ user }) => log.info({ user: user._id, username: name }, 'first admin created'))
        .catch(async (error: unknown) => {
          if (!(await findUserByName(mongo.db, name))) throw error // else another process was faster
        })
    }
  }
  return findFirstAdmin(mongo.db)
}

/** The value of a setting in its stored form; throws a sentence that names the setting and not the value. */
export function setting<S extends z.ZodType>(name: string, schema: S, value: string): z.output<S> {
  const result = validate(schema, value)
  if (result.ok) return result.data
  const [issue] = result.issues
  throw new Error(`${name} ${issue ? inEnglish(issue.reason) : 'is not valid'}`)
}
