/** The page that a link in a reminder opens, as the document of the API shows it. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { UNSUBSCRIBE_PATH } from '../unsubscribe-link.ts'

const page = { type: 'string' }
const common = {
  tag: 'Service',
  path: `${UNSUBSCRIBE_PATH}/{token}`,
  access: { kind: 'open' },
  params: z.object({ token: z.string().min(1) }),
  responseContent: { 'text/html': page },
} as const

/** For people and mail programs. */
export const unsubscribeOperations = [
  endpoint({
    ...common,
    operationId: 'showUnsubscribe',
    method: 'GET',
    summary: 'A page that asks whether to end the reminders; changes nothing.',
  }),
  endpoint({
    ...common,
    operationId: 'unsubscribe',
    method: 'POST',
    summary: 'Ends the reminders of the user that the signed token names (one click: RFC 8058).',
    example: { content: { type: 'application/x-www-form-urlencoded', text: 'List-Unsubscribe=One-Click' } },
    requestContent: { 'application/x-www-form-urlencoded': { type: ['object', 'string'] } },
  }),
]

/** Both refuse with a page. */
export const unsubscribeRefusal = {
  description: 'A page that says that the link is not valid.',
  mediaType: 'text/html',
  name: 'UnsubscribeError',
  schema: page,
}
