/** Saved views of the message log over HTTP. */
import { bind } from '../../../platform/http/web-app.ts'
import { newId } from '../../../platform/ids.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { deleteView, listViews, type MessageViewDoc, putView, type ViewOwner } from '../store/message-views.ts'
import { createMessageView, deleteMessageView, listMessageViews, VIEWS_MOST } from './views-contract.ts'

/** Puts the operations on the router. Each user has views of its own in every account in which it works. */
export function mountMessageViews(router: Router, { authorise, mongo: { db }, clock }: MailHttpDeps): void {
  bind(router, authorise, listMessageViews, async (_, caller) => ({
    object: 'list' as const,
    data: (await listViews(db, ownerOf(caller), VIEWS_MOST)).map(show),
    has_more: false,
  }))

  bind(router, authorise, createMessageView, async ({ body }, caller) => {
    const now = clock.now()
    const filters = Object.fromEntries(
      Object.entries(body.filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    )
    const view = { _id: newId('mv', now.getTime()), ...ownerOf(caller), name: body.name, filters, created_at: now }
    const stored = await putView(db, view, VIEWS_MOST)
    if (!stored) throw new ProblemError('conflict', sentence('detail.message_views_full', { most: VIEWS_MOST }))
    return show(stored)
  })

  bind(router, authorise, deleteMessageView, async ({ params }, caller) => {
    if (!(await deleteView(db, ownerOf(caller), params.id)))
      throw new ProblemError('not_found', sentence('detail.no_message_view'))
  })
}

function ownerOf({ account, person }: Principal): ViewOwner {
  return { user_id: person?.id ?? account.id, account_id: account.id }
}

function show({ _id, name, filters, created_at }: MessageViewDoc) {
  return { object: 'message_view' as const, id: _id, name, filters, created_at: created_at.toISOString() }
}
