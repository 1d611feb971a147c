/** Loads the TypeScript of the image as it is: its types are removed when the image is built (scripts/strip-types.ts). */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load: (url, context, next) =>
    url.startsWith('file:') && url.endsWith('.ts')
      ? { format: 'module', source: readFileSync(new URL(url)), shortCircuit: true }
      : next(url, context),
})
