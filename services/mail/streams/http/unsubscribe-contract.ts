/** The link in bulk mail, as the document of the API shows it. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { UNSUBSCRIBE_PATH } from '../unsubscribe-link.ts'

const common = {
  tag: 'Service',
  path: `${UNSUBSCRIBE_PATH}/{token}`,
  access: { kind: 'public' } as const,
  params: z.object({ token: z.string().min(1) }),
  responseContent: { 'text/html': { type: 'string' } },
} as const

/** Any caller that has the link of a recipient. */
export const unsubscribeOperations = [
  endpoint({
    ...common,
    operationId: 'showUnsubscribe',
    method: 'GET',
    summary: 'Asks the recipient of bulk mail whether to unsubscribe; changes nothing.',
  }),
  endpoint({
    ...common,
    operationId: 'unsubscribe',
    method: 'POST',
    summary: 'Unsubscribes the recipient from the list of the mail with this link, at once (RFC 8058).',
    example: { content: { type: 'application/x-www-form-urlencoded', text: 'List-Unsubscribe=One-Click' } },
    requestContent: {
      'application/x-www-form-urlencoded': { type: 'string' },
      'multipart/form-data': { type: 'string' },
    },
  }),
]
