/** Fetches attachments that a message names by their address, within the limits of a message. */
import { failureOf } from '../../platform/network/guarded-fetch.ts'
import type { GuardedGet } from '../../platform/network/guarded-get.ts'
import { ProblemError } from '../../platform/problems.ts'
import { SentenceError, sentence } from '../../platform/sentences/sentence.ts'
import { DecodedBase64 } from '../message/base64.ts'
import { EMAIL_LIMITS } from '../submission/rules/email-parts.ts'
import { refuseAttachment } from './rules/attachments.ts'
import { ForeignError } from './rules/foreign-error.ts'
import { isFields } from './rules/loose-input.ts'

/** Time for each attachment, and for all of a message: it holds a place that others wait for. */
const TIMEOUT_MS = 15_000
const MOST_MS = 60_000
/** Messages of a process that fetch at the same time; more are asked to wait. */
const AT_ONCE = 20
/** Those of one account. */
const AT_ONCE_OF_ACCOUNT = 5

/** Puts the contents into the attachments of a translated message. Throws `invalid_attachment`. */
export type FetchAttachments = (account: string, email: unknown, count: (bytes: number) => void) => Promise<void>

/** `maxBytes` and `mostMs`: for all attachments of a message together. */
export function createFetchAttachments(get: GuardedGet, maxBytes: number, mostMs = MOST_MS): FetchAttachments {
  const busy = new Map<string, number>()
  let all = 0
  return async (account, email, count) => {
    const linked = linkedOf(email)
    if (linked.length === 0) return
    const own = busy.get(account) ?? 0
    if (all >= AT_ONCE || own >= AT_ONCE_OF_ACCOUNT)
      throw new ForeignError(503, 'application_error', sentence('compat.attachments_busy'))
    all++
    busy.set(account, own + 1)
    try {
      await fetchAll(get, linked, { maxBytes, mostMs }, count)
    } finally {
      all--
      const left = (busy.get(account) ?? 1) - 1
      if (left === 0) busy.delete(account)
      else busy.set(account, left)
    }
  }
}

/** True for a message with attachments by address. */
export function hasLinked(email: unknown): boolean {
  return linkedOf(email).length > 0
}

interface Linked {
  attachment: Record<string, unknown>
  path: string
  index: number
}

function linkedOf(email: unknown): Linked[] {
  const attachments = isFields(email) && Array.isArray(email.attachments) ? email.attachments : []
  return attachments.slice(0, EMAIL_LIMITS.attachments).flatMap((attachment: unknown, index) => {
    const path = isFields(attachment) ? attachment.path : undefined
    return typeof path === 'string' ? [{ attachment: attachment as Record<string, unknown>, path, index }] : []
  })
}

/** One after the other: the sizes of the first ones bound what the others may have. */
async function fetchAll(
  get: GuardedGet,
  linked: readonly Linked[],
  { maxBytes, mostMs }: { maxBytes: number; mostMs: number },
  count: (bytes: number) => void,
) {
  const until = performance.now() + mostMs
  let size = 0
  for (const { attachment, path, index } of linked) {
    const tooLarge = () => refuseAttachment(sentence('compat.attachment_large', { limit: maxBytes }))
    const counted = (bytes: number) => {
      size += bytes
      if (size > maxBytes) tooLarge()
      count(bytes)
    }
    const timeoutMs = Math.ceil(Math.min(TIMEOUT_MS, until - performance.now()))
    if (timeoutMs <= 0)
      refuseAttachment(sentence('compat.attachment_target', { index, reason: sentence('webhook.timeout') }))
    const { status, bytes } = await get({ url: path, timeoutMs, count: counted }).catch((error: unknown) => {
      if (error instanceof ForeignError || error instanceof ProblemError) throw error
      const reason = error instanceof SentenceError ? error.sentence : failureOf(error)
      return refuseAttachment(sentence('compat.attachment_target', { index, reason }))
    })
    if (status < 200 || status >= 300) refuseAttachment(sentence('compat.attachment_status', { index, status }))
    attachment.content = new DecodedBase64(bytes)
    delete attachment.path
  }
}
