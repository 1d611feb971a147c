/** Cut texts, overlapping elements and elements outside of the window, in a page of a real browser. */
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { LayoutFinding } from './layout-finding.ts'

const script = readFile(join(import.meta.dirname, 'in-page/find-layout-defects.ts'), 'utf8').then(source =>
  stripTypeScriptTypes(source).replace(/^export /m, ''),
)

/** Examines the page as it is now, once its fonts are loaded. */
export async function layoutFindings(page: Page): Promise<LayoutFinding[]> {
  // One expression: what it declares must not stay in the page.
  return page.evaluate<LayoutFinding[]>(`document.fonts.ready.then(() => { ${await script}
    return findLayoutDefects() })`)
}
