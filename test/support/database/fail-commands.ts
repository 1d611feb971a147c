/** The fail point `failCommand` of a mongod that was started with `enableTestCommands`. */
import { onTestFinished } from 'vitest'
import type { Db } from '../../../services/platform/database/mongo.ts'

/** Which commands fail or wait, and how: `data` of the fail point. */
export interface CommandFailure {
  failCommands: readonly string[]
  [option: string]: unknown
}

/** Makes commands fail until the result is called or the test ends, or only the next `times` of them. */
export async function failCommands(
  db: Db,
  data: CommandFailure,
  mode: 'alwaysOn' | { times: number } = 'alwaysOn',
): Promise<() => Promise<void>> {
  const set = async (to: typeof mode | 'off') => {
    await db.admin().command({ configureFailPoint: 'failCommand', mode: to, data })
  }
  const restore = () => set('off')
  onTestFinished(restore)
  await set(mode)
  return restore
}
