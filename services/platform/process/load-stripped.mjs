/**
 * Loads the TypeScript of the image as it is: its types are removed when the image is built (scripts/strip-types.ts). Files
 * that were added since then are loaded as Node does it.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/** The last line of a file without types. */
const STRIPPED = '//# types removed\n'

registerHooks({
  load(url, context, next) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
    const source = readFileSync(new URL(url), 'utf8')
    return source.endsWith(STRIPPED) ? { format: 'module', source, shortCircuit: true } : next(url, context)
  },
})
