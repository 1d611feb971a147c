/** Streamed CSV responses. */
import { Readable } from 'node:stream'
import { BOM } from '../tables/rules/csv.ts'
import type { WebContext } from './web-app.ts'

/** Sends a file of these lines. */
export function sendCsv(context: WebContext, name: string, lines: AsyncIterable<string>): void {
  context.type = 'text/csv; charset=utf-8'
  context.set('Content-Disposition', `attachment; filename="${name}.csv"`)
  context.body = Readable.from(withBom(lines))
}

async function* withBom(lines: AsyncIterable<string>): AsyncIterable<string> {
  yield BOM
  yield* lines
}
