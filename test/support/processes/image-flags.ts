/** How the image starts Node, for tests and benchmarks that measure what it does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const dockerfile = readFileSync(join(import.meta.dirname, '../../../Dockerfile'), 'utf8')
const entry = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]') as string[]

/** The flags of the image that size the heap; not the one for code whose types are removed. */
export const IMAGE_FLAGS: readonly string[] = entry.filter(word => /^--(min|max|heap)-/.test(word))
