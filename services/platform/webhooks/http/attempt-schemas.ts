/** Attempts of a delivery as both APIs describe them. */
import { z } from 'zod'
import { sentenceCode, sentenceParams } from '../../http/sentence-fields.ts'

/** What an attempt came to. */
export const resultFields = {
  /** An HTTP status, or a sentence. */
  result: z.string().nullable(),
  result_code: sentenceCode.nullable(),
  result_params: sentenceParams.nullable(),
}

const headers = z.array(z.strictObject({ name: z.string(), value: z.string() }))

/** What a delivery has besides the fields of lists; `time`: how the API writes times. */
export function deliveryLog<T extends z.ZodType>(time: T) {
  return {
    /** Body of the request, the same in every attempt. */
    request_body: z.string(),
    /** The last twenty, oldest first. */
    log: z.array(
      z.strictObject({
        at: time,
        duration_ms: z.number().int(),
        url: z.string(),
        request_headers: headers,
        ...resultFields,
        /** The first 4 KiB of the answer. */
        answer: z
          .strictObject({ status: z.number().int(), headers, body: z.string(), truncated: z.boolean() })
          .nullable(),
      }),
    ),
  }
}
