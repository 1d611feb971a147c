/** Suppressions over HTTP. */
import type { z } from 'zod'
import { createBodyRoom, readInPlace } from '../../../platform/http/body-room.ts'
import { sendCsv } from '../../../platform/http/csv-download.ts'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { readFile, type UploadedFile } from '../../../platform/http/uploaded-file.ts'
import { bind, parse, type WebContext } from '../../../platform/http/web-app.ts'
import { orderedPage, toOrderedPage } from '../../../platform/ordered-pages.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { csvLine } from '../../../platform/tables/rules/csv.ts'
import { type Principal, requireUnrestricted } from '../../http/shared/authorise.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { importSuppressions } from '../import-suppressions.ts'
import { changeSuppressions, deleteSuppression, getSuppression, putSuppression } from '../manage-suppressions.ts'
import { ALL_STREAMS } from '../rules/suppression.ts'
import { suppressedEmail } from '../rules/suppression-input.ts'
import { everySuppression, listSuppressions, type SuppressionDoc, type SuppressionKey } from '../store/suppressions.ts'
import {
  changeSuppressionsOperation,
  createSuppressionOperation,
  deleteSuppressionOperation,
  exportSuppressionsOperation,
  getSuppressionOperation,
  IMPORT_BYTES,
  importSuppressionsOperation,
  listSuppressionsOperation,
  SUPPRESSION_ORDERS,
  type suppression,
} from './suppressions-contract.ts'

/** Columns of the export; the import reads them. */
const COLUMNS = ['email', 'reason', 'stream', 'origin', 'expires_at', 'created_at', 'detail'] as const

/** Puts the list on the router. */
export function addSuppressionList(router: Router, deps: Pick<MailHttpDeps, 'authorise' | 'mongo'>): void {
  bind(router, unrestricted(deps), listSuppressionsOperation, async ({ query }, { account }) => {
    const rows = await listSuppressions(deps.mongo.db, account.id, query, orderedPage(SUPPRESSION_ORDERS, query))
    return toOrderedPage(SUPPRESSION_ORDERS, query, rows, show)
  })
}

/** A token that is limited to domains sees and changes none. */
function unrestricted({ authorise }: Pick<MailHttpDeps, 'authorise'>): MailHttpDeps['authorise'] {
  return async (context, access) => {
    const caller = await authorise(context, access)
    requireUnrestricted(caller)
    return caller
  }
}

/** Puts the operations on suppressions on the router. */
export function mountSuppressions(router: Router, deps: MailHttpDeps): void {
  const { clock, mongo } = deps
  const useCase = { db: mongo.db, clock }
  const authorise = unrestricted(deps)
  const audit = (caller: Principal, context: WebContext, verb: string, target: { id: string; name: string }) =>
    deps.audit(caller, context, { action: `suppression.${verb}`, target: { type: 'suppression', ...target } })

  addSuppressionList(router, deps)

  bind(router, authorise, exportSuppressionsOperation, async (_, { account }, context) => {
    sendCsv(context, 'suppressions', lines(everySuppression(mongo.db, account.id)))
    await Promise.resolve()
  })

  bind(router, authorise, getSuppressionOperation, async ({ params, query }, { account }) =>
    show(await getSuppression(useCase, account.id, keyOf(params.id, query.stream))),
  )

  bind(router, authorise, createSuppressionOperation, async ({ body }, caller, context) => {
    const entry = await putSuppression(useCase, caller.account.id, body)
    await audit(caller, context, 'added', { id: entry._id, name: entry.email })
    context.set('Location', `/api/v1/suppressions/${entry._id}`)
    return show(entry)
  })

  bind(router, authorise, changeSuppressionsOperation, async ({ body }, caller, context) => {
    const { added, updated, removed } = await changeSuppressions(useCase, caller.account.id, body)
    if (added + updated > 0) await audit(caller, context, 'added', { id: '', name: String(added + updated) })
    for (const { _id: id, email: name } of removed) await audit(caller, context, 'removed', { id, name })
    return { object: 'suppression_batch' as const, added, updated, removed: removed.length }
  })

  bind(router, authorise, deleteSuppressionOperation, async ({ params, query }, caller, context) => {
    const { _id: id, email: name } = await deleteSuppression(useCase, caller.account.id, keyOf(params.id, query.stream))
    await audit(caller, context, 'removed', { id, name })
  })

  const readBody = fileReader()
  bind(
    router,
    authorise,
    importSuppressionsOperation,
    async (_, caller, context) => {
      const { errors, ...counts } = await importSuppressions(useCase, caller.account.id, fileOf(context))
      if (counts.added > 0) await audit(caller, context, 'imported', { id: '', name: String(counts.added) })
      return {
        object: 'suppression_import' as const,
        ...counts,
        errors: errors.map(({ row, reason }) => ({ row, ...sentenceFields('message', reason) })),
      }
    },
    { readBody },
  )
}

/** A few files are in memory at a time; further ones are refused for some seconds. */
function fileReader() {
  const room = createBodyRoom(2 * IMPORT_BYTES, IMPORT_BYTES, sentence('detail.imports_busy'))
  return (context: WebContext, principal: Principal) =>
    readInPlace(context, room(principal.account.id, context.headers['content-encoding']), async ({ count }) => {
      context.state.file = await readFile(context, { bytes: IMPORT_BYTES, count })
    })
}

function fileOf(context: WebContext): UploadedFile {
  return context.state.file as UploadedFile
}

/** An id of {@link SuppressionDoc}, or an address, which is checked as everywhere. */
function keyOf(idOrEmail: string, stream: string): SuppressionKey {
  if (!idOrEmail.includes('@')) return { id: idOrEmail }
  return { email: parse(suppressedEmail, idOrEmail, '/id') as string, stream }
}

async function* lines(entries: AsyncIterable<SuppressionDoc>): AsyncGenerator<string> {
  yield csvLine(COLUMNS)
  for await (const entry of entries) {
    const shown = show(entry)
    yield csvLine(COLUMNS.map(column => shown[column]))
  }
}

function show(doc: SuppressionDoc): z.input<typeof suppression> {
  return {
    object: 'suppression',
    id: doc._id,
    email: doc.email,
    stream: doc.stream === ALL_STREAMS ? null : doc.stream,
    reason: doc.reason,
    origin: doc.origin,
    email_id: doc.email_id ?? null,
    detail: doc.detail ?? null,
    expires_at: doc.expires_at?.toISOString() ?? null,
    created_at: doc.created_at.toISOString(),
  }
}
