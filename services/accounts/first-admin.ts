/** The first admin, from the configuration. */
import type { Foundation } from '../platform/process/run.ts'
import { createUser } from './manage-accounts.ts'
import { newPassword } from './rules/password.ts'
import { username } from './rules/username.ts'
import { findFirstAdmin, findUserByName, type UserDoc } from './store/users.ts'

/**
 * Creates the account of ADMIN_USERNAME when it is missing; an existing one keeps its password. Gives the oldest
 * admin, for whom the first SMTP login and API_TOKEN act. Throws when a setting does not make an account.
 */
export async function ensureFirstAdmin({
  config,
  mongo,
  clock,
  log,
}: Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log'>): Promise<UserDoc | undefined> {
  const { ADMIN_USERNAME, ADMIN_PASSWORD } = config
  if (ADMIN_USERNAME !== undefined && ADMIN_PASSWORD !== undefined) {
    const name = setting('ADMIN_USERNAME', username.safeParse(ADMIN_USERNAME))
    const password = setting('ADMIN_PASSWORD', newPassword.safeParse(ADMIN_PASSWORD))
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

/** The value of a setting that zod has parsed; throws a sentence that names the setting and not the value. */
export function setting<T>(
  name: string,
  result: { success: true; data: T } | { success: false; error: { issues: { message: string }[] } },
): T {
  if (result.success) return result.data
  throw new Error(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}`)
}
