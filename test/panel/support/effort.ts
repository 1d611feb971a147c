/** What a person does on a page: clicks, and key presses, of which Tab and the arrows move the focus. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Counts since the last call of `take`. */
export interface Effort {
  clicks: number
  /** Presses that move the focus. */
  moves: number
  /** Enter and blanks. */
  presses: number
  /** Typed characters. */
  typed: number
  seconds: number
}

const COUNT = `for (const type of ['pointerdown', 'keydown'])
  addEventListener(type, event => event.isTrusted && window.countEffort(type === 'keydown' ? event.key : 'click'), true)`

/** Counts from now on, also on pages that are opened later. */
export async function countEffort(page: Page): Promise<{ take: () => Effort }> {
  const none = () => ({ clicks: 0, moves: 0, presses: 0, typed: 0 })
  let counts = none()
  let started = performance.now()
  await page.exposeBinding('countEffort', (_source, what: string) => {
    if (what === 'click') counts.clicks++
    else if (/^(Tab|Arrow\w+)$/.test(what)) counts.moves++
    else if (what === 'Enter' || what === ' ') counts.presses++
    else if (what.length === 1) counts.typed++
  })
  await page.addInitScript(COUNT)
  await page.evaluate(COUNT)
  return {
    take() {
      const taken = { ...counts, seconds: Math.round((performance.now() - started) / 1000) }
      counts = none()
      started = performance.now()
      return taken
    },
  }
}

/**
 * Moves the focus with Tab to an element with this text (apart from the number of a step) or this accessible label, or that a
 * selector finds, once it is there; with ArrowDown once a menu has the focus.
 */
export async function tabTo(
  page: Page,
  target: string | { selector: string },
  key: 'Tab' | 'Shift+Tab' | 'ArrowDown' = 'Tab',
): Promise<void> {
  const isTarget =
    typeof target === 'string'
      ? `[element?.textContent.replace(/^\\d/, ''), element?.ariaLabel].includes(${JSON.stringify(target)})`
      : `element?.matches(${JSON.stringify(target.selector)})`
  // Not `waitForFunction`: it polls by `eval`, which the pages forbid.
  const isThere = () => page.evaluate(`[...document.querySelectorAll('*')].some(element => ${isTarget})`)
  await expect.poll(isThere, { timeout: 60_000 }).toBe(true)
  if (key === 'ArrowDown') await menuFocus(page)
  for (let presses = 0; presses < 120; presses++) {
    if (await page.evaluate(`(element => ${isTarget} ?? false)(document.activeElement)`)) return
    await page.keyboard.press(key)
  }
  throw new Error(`the focus does not come to ${JSON.stringify(target)}`)
}

/** A menu that opens takes the focus a moment later: keys before that go to its button. */
export async function menuFocus(page: Page): Promise<void> {
  await page.locator('[role=menu]:focus-within').waitFor()
}
