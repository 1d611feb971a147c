/** How the image starts Node, for tests and benchmarks that measure what it does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const dockerfile = readFileSync(join(import.meta.dirname, '../../../Dockerfile'), 'utf8')
const entry = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)?.[1]
if (entry === undefined) throw new Error('the Dockerfile has no ENTRYPOINT in one line')

/** The flags of the image that size the heap; not the one for code whose types are removed. */
export const IMAGE_FLAGS: readonly string[] = (JSON.parse(entry) as string[]).filter(word =>
  /^--(min|max|heap)-/.test(word),
)
