/** Builds the web app once for each run, also when test files ask for it concurrently. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPanelIfChanged } from '../../../scripts/build-panel.ts'
import { isRunning } from '../../../services/platform/mongod/is-process-running.ts'
import { until } from '../../support/time/until.ts'

/** Contains the pid of the building process. All workers of a run have the same parent. */
const LOCK = join(tmpdir(), `postwright-panel-${process.ppid}`)

/** Resolves when `dist` is up to date with the sources. */
export async function builtPanel(): Promise<void> {
  await until(lock, 180_000)
  try {
    await buildPanelIfChanged()
  } finally {
    await rm(LOCK, { force: true })
  }
}

/** True if this process holds the lock. The lock of a worker that ended during its build is taken over. */
async function lock(): Promise<boolean> {
  const made = await writeFile(LOCK, String(process.pid), { flag: 'wx' }).then(
    () => true,
    () => false,
  )
  if (made) return true
  const holder = Number(await readFile(LOCK, 'utf8').catch(() => ''))
  if (holder > 0 && !(await isRunning(holder))) await rm(LOCK, { force: true })
  return false
}
