/** Content that is wider than its window, cut or covered. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { layoutFindings } from './layout-findings.ts'

/** The widths of a phone, a small laptop and a desktop. */
const WIDTHS = [390, 1024, 1440] as const

/** The innermost elements that reach beyond the window and are not scrolled inside of a positioned one; for messages. */
const REACHING = `[...document.querySelectorAll('body *')].filter(element => {
  if (element.getBoundingClientRect().right <= window.innerWidth + 1) return false
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement)
    if (getComputedStyle(at).overflowX !== 'visible' && getComputedStyle(at).position !== 'static') return false
  return true
}).slice(-3).map(element => element.outerHTML.slice(0, 120))`

/** From this width on, every column of a table is in sight. */
const SMALL_LAPTOP = 1024

/** Tables whose last columns have to be scrolled into sight. */
const SCROLLED = `[...document.querySelectorAll('.pw-scroll')]
  .filter(area => area.scrollWidth > area.clientWidth + 1)
  .map(area => ({ table: area.getAttribute('aria-label'), scrolled: area.scrollWidth - area.clientWidth }))`

/** Expects a page to fit into each width without a finding of the layout; layout that follows the window late is waited for. */
export async function expectFitting(page: Page, widths: readonly number[] = WIDTHS): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    const defects = async () => {
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
      const overflow = wide > 0 ? [{ width, wide, reaching: await page.evaluate<string[]>(REACHING) }] : []
      const tables = width < SMALL_LAPTOP ? [] : await page.evaluate<object[]>(SCROLLED)
      return [...overflow, ...[...tables, ...(await layoutFindings(page))].map(finding => ({ width, ...finding }))]
    }
    await expect.poll(defects).toEqual([])
  }
}
