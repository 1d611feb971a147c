/** Violations of the WCAG 2.2 A and AA rules, found by axe in a page of a real browser. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** A rule that elements of the page violate. */
export interface Finding {
  id: string
  impact: string
  nodes: string[]
}

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Examines the page as it is now. */
export async function findings(page: Page): Promise<Finding[]> {
  // Evaluated through the debugger, which is exempt from the page's Content-Security-Policy.
  await page.evaluate(await axe)
  return page.evaluate(`axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
    .then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(node => node.html.slice(0, 160)) })))`)
}
