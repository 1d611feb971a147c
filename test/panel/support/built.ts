/** The built web app, built again only when a source is newer. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buildPanel } from '../../../scripts/build-panel.ts'
import { PANEL_FOLDER } from '../../../services/mail/http/panel-files.ts'

const SOURCES = join(PANEL_FOLDER, '..')

/** Resolves when `dist` is as new as the sources. */
export async function builtPanel(): Promise<void> {
  const built = await stat(join(PANEL_FOLDER, 'index.html')).catch(() => undefined)
  if (!built || built.mtimeMs < (await newest())) await buildPanel()
}

async function newest(): Promise<number> {
  const entries = await readdir(SOURCES, { recursive: true, withFileTypes: true })
  const sources = entries.filter(entry => entry.isFile() && !entry.parentPath.startsWith(PANEL_FOLDER))
  const stats = await Promise.all(sources.map(entry => stat(join(entry.parentPath, entry.name))))
  return Math.max(...stats.map(({ mtimeMs }) => mtimeMs))
}
