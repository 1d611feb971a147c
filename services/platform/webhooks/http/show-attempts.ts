/** Attempts of a delivery as both APIs show them. */
import { codeAndParams } from '../../http/sentence-fields.ts'
import { inEnglish, type Sentence } from '../../sentences/sentence.ts'
import { bodyOf } from '../attempt-delivery.ts'
import type { AttemptRecord, WebhookEvent } from '../event-queue.ts'

/** Body and attempts; `data`: what the request has, or its `body` in another format; `time`: how the API writes times. */
export function showLog(
  event: WebhookEvent,
  { data, body }: { data: Record<string, unknown>; body?: string | undefined },
  time: (at: Date) => string,
) {
  return { request_body: body ?? bodyOf(event, data), log: (event.log ?? []).map(one => showAttempt(one, time)) }
}

function showAttempt({ at, ms, url, headers, answer, ...came }: AttemptRecord, time: (at: Date) => string) {
  return {
    at: time(at),
    duration_ms: ms,
    url,
    request_headers: pairs(headers),
    ...showResult(came),
    answer: answer
      ? {
          status: answer.status,
          headers: pairs(answer.headers),
          body: answer.body,
          truncated: answer.cut === true,
        }
      : null,
  }
}

/** A status stays what it is; a sentence beside it is its explanation. */
export function showResult({ result, reason }: { result?: string; reason?: Sentence }) {
  if (!reason) return { result: result ?? null, result_code: null, result_params: null }
  const { code, params } = codeAndParams(reason)
  return { result: result ?? inEnglish(reason), result_code: code, result_params: params }
}

function pairs(headers: readonly (readonly [string, string])[]) {
  return headers.map(([name, value]) => ({ name, value }))
}
