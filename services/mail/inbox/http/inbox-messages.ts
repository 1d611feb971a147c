/** The inbox of a domain: its captured mail, for people and for test suites that wait for it. */
import { finished } from 'node:stream'
import type Router from '@koa/router'
import type { z } from 'zod'
import { createFairLimiter } from '../../../platform/concurrency/fair-limiter.ts'
import { toPage } from '../../../platform/cursor-pages.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { type Authorise, bind, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { getDomain } from '../../domains/register-domain.ts'
import type { Access } from '../../http/shared/access.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { answerPreview, answerRaw, type LogRoutesDeps } from '../../log/http/emails.ts'
import { type CapturedSummary, findCaptured } from '../../store/captured.ts'
import type { InboxPlace } from '../../store/captured-inboxes.ts'
import { InboxWaiters, WAITER_LIMITS } from '../inbox-waiters.ts'
import { readAttachment, readMessage } from '../reading/read-message.ts'
import { emptyInbox, listInboxMessages, removeInboxMessage } from '../store/inbox-messages.ts'
import {
  deleteInboxMessageOperation,
  emptyInboxOperation,
  getInboxAttachmentOperation,
  getInboxMessageOperation,
  getRawInboxMessageOperation,
  type inboxMessage,
  listInboxMessagesOperation,
  previewInboxMessageOperation,
} from './inbox-contract.ts'

/** Dependencies of the operations. */
export interface InboxDeps extends LogRoutesDeps {
  /** The guard without counting, for a request that has waited. */
  stillAllowed: Authorise<Access, Principal>
  /** Ends the waiting, when the process stops. */
  closing: AbortSignal
}

/** Searches; each waiting request makes one when mail arrives. */
const SEARCHES = { atOnce: 8, perKey: 4, waiting: 2 * WAITER_LIMITS.account }
/** Messages that are read: each is held in memory several times. */
const READS = { atOnce: 2, perKey: 1, waiting: 20 }

/** Adds the operations to a router. */
export function addDomainInboxRoutes(router: Router, deps: InboxDeps): void {
  const { authorise, mongo, clock, closing, stillAllowed } = deps
  const waiters = new InboxWaiters(mongo)
  const search = createFairLimiter(SEARCHES)
  const read = createFairLimiter(READS)

  bind(router, authorise, listInboxMessagesOperation, async ({ params, query }, principal, context) => {
    const { limit, after, wait, since, to, subject } = query
    const place = await placeOf(mongo, principal, params.id)
    const filter = { to, subject, since: since === undefined ? undefined : new Date(since) }
    const list = () => search(place.userId, () => listInboxMessages(mongo, place, filter, { limit: limit + 1, after }))
    if (wait === 0) return toPage(await list(), limit, show)
    const refusal = waiters.refusalOf(place.userId)
    if (refusal) throw new ProblemError('rate_limited', refusal, { retryAfter: 5 })
    const signal = AbortSignal.any([closing, disconnected(context)])
    const found = await waiters.waitFor(place, { ms: wait * 1_000, signal }, list)
    // The token may have been revoked, or the session may work in another account by now.
    const again = await stillAllowed(context, listInboxMessagesOperation.access)
    if (again.account.id !== place.userId) throw unknownMessage()
    return toPage(found, limit, show)
  })

  bind(router, authorise, emptyInboxOperation, async ({ params }, principal) => {
    const place = await placeOf(mongo, principal, params.id)
    return { object: 'deleted' as const, count: await emptyInbox(mongo, place, clock.now()) }
  })

  bind(router, authorise, getInboxMessageOperation, async ({ params }, principal) =>
    read(principal.account.id, async () => showMessage(await messageOf(mongo, principal, params))),
  )

  bind(router, authorise, deleteInboxMessageOperation, async ({ params }, principal) => {
    const place = await placeOf(mongo, principal, params.id)
    if (!(await removeInboxMessage(mongo, place, params.message))) throw unknownMessage()
  })

  bind(router, authorise, getRawInboxMessageOperation, async ({ params }, principal, context) => {
    const { raw } = await read(principal.account.id, () => messageOf(mongo, principal, params))
    answerRaw(context, raw, params.message)
  })

  bind(router, authorise, previewInboxMessageOperation, async ({ params }, principal, context) => {
    await read(principal.account.id, async () =>
      answerPreview(context, (await messageOf(mongo, principal, params)).raw),
    )
  })

  bind(router, authorise, getInboxAttachmentOperation, async ({ params }, principal, context) => {
    await read(principal.account.id, async () => {
      const found = await readAttachment((await messageOf(mongo, principal, params)).raw, params.index)
      if (!found) throw new ProblemError('not_found', sentence('detail.no_attachment'))
      // A browser must never take it for a page of ours, whatever its type and name say.
      context.attachment(found.filename)
      context.type = 'application/octet-stream'
      context.set('Content-Security-Policy', "sandbox; default-src 'none'")
      context.body = found.content
    })
  })
}

/** Aborts when the client is gone. */
function disconnected(context: WebContext): AbortSignal {
  const gone = new AbortController()
  finished(context.res, () => gone.abort())
  return gone.signal
}

/** The domain of the caller; another account's, or one that the token is not for, is as unknown as one that never was. */
async function placeOf({ db }: Mongo, { account, token }: Principal, idOrName: string): Promise<InboxPlace> {
  const { _id, name } = await getDomain({ db }, account.id, idOrName)
  const only = token?.domains ?? []
  if (only.length > 0 && !only.includes(name)) throw new ProblemError('not_found', sentence('detail.domain_unknown'))
  return { userId: account.id, domainId: _id }
}

async function messageOf(mongo: Mongo, principal: Principal, { id, message }: { id: string; message: string }) {
  const { userId, domainId } = await placeOf(mongo, principal, id)
  const found = await findCaptured(mongo, { user_id: userId, domain_id: domainId }, message)
  if (!found) throw unknownMessage()
  return found
}

function unknownMessage(): ProblemError {
  return new ProblemError('not_found', sentence('detail.no_captured_message'))
}

function show({ _id, m, mail_from, rcpts, size, at, subject = '' }: CapturedSummary) {
  return {
    object: 'captured' as const,
    id: _id,
    email_id: m,
    from: mail_from,
    to: rcpts,
    subject,
    size,
    received_at: at.toISOString(),
  }
}

async function showMessage(found: CapturedSummary & { raw: Buffer }): Promise<z.input<typeof inboxMessage>> {
  const { text = null, html = null, attachments, ...read } = await readMessage(found.raw)
  return {
    ...show(found),
    ...read,
    text,
    html,
    attachments: attachments.map(({ index, filename, contentType, size, contentId = null }) => ({
      ...{ index, filename, size },
      content_type: contentType,
      content_id: contentId,
    })),
  }
}
