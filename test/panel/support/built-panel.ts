/** The built web app, built once a run however many test files ask for it at the same time. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPanelIfChanged } from '../../../scripts/build-panel.ts'
import { isRunning } from '../../../services/platform/mongod/is-process-running.ts'
import { until } from '../../support/time/until.ts'

/** Holds the process that builds. The workers of one run have one parent. */
const LOCK = join(tmpdir(), `postwright-panel-${process.ppid}`)

/** Resolves when `dist` is what the sources make. */
export async function builtPanel(): Promise<void> {
  await until(lock, 180_000)
  try {
    await buildPanelIfChanged()
  } finally {
    await rm(LOCK, { force: true })
  }
}

/** True when this process may build. A worker that ended amid its build, because its tests are skipped, has left its lock. */
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
