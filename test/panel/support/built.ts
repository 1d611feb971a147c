/** The built web app, built once a run however many test files ask for it at the same time. */
import { mkdir, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPanelIfChanged } from '../../../scripts/build-panel.ts'
import { until } from '../../support/until.ts'

/** The workers of one run have one parent. */
const LOCK = join(tmpdir(), `postwright-panel-${process.ppid}`)

/** Resolves when `dist` is what the sources make. */
export async function builtPanel(): Promise<void> {
  await until(
    () =>
      mkdir(LOCK).then(
        () => true,
        () => false,
      ),
    180_000,
  )
  try {
    await buildPanelIfChanged()
  } finally {
    await rmdir(LOCK)
  }
}
