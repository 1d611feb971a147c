/** Streamed CSV responses. */
import { Readable } from 'node:stream'
import { BOM } from '../tables/rules/csv.ts'
import type { WebContext } from './web-app.ts'

/** Sends a file of these lines. `continued`: they go on with an earlier answer, so that no byte order mark precedes them. */
export function sendCsv(
  context: WebContext,
  name: string,
  lines: AsyncIterable<string>,
  { continued = false }: { continued?: boolean } = {},
): void {
  context.type = 'text/csv; charset=utf-8'
  context.set('Content-Disposition', `attachment; filename="${name}.csv"`)
  context.body = Readable.from(continued ? lines : withBom(lines))
}

async function* withBom(lines: AsyncIterable<string>): AsyncIterable<string> {
  yield BOM
  yield* lines
}
