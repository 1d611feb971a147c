/** Prints of a failed test where its visitors were, what the browser complained about, and what the pages showed. */
import { afterEach } from 'vitest'
import { visitors } from './browser.ts'

afterEach(async ({ task }) => {
  for (const visitor of visitors) {
    const { page, complaints } = visitor
    if (task.result?.state === 'fail') {
      const text = page.isClosed() ? '(closed)' : await page.locator('body').innerText({ timeout: 5_000 }).catch(String)
      process.stderr.write([`${task.name}: ${page.url()}`, ...complaints, text.slice(0, 4_000), ''].join('\n'))
    }
    if (page.isClosed()) visitors.delete(visitor)
  }
})
