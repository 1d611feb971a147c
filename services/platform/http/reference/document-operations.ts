/** Operations that each API has besides its own: its documents and the probe of load balancers. */
import { z } from 'zod'
import { type AnyEndpoint, endpoint } from '../endpoint.ts'

/** Where the page for readers is. */
export const REFERENCE_PATH = '/docs'
/** The styles of the page: none are inline, because its policy allows none. */
export const STYLE_PATH = `${REFERENCE_PATH}/reference.css`

const text = { type: 'string' }

/** The operations, open to the callers that `access` describes: any. */
export function documentOperations<A>(access: A): AnyEndpoint<A>[] {
  const common = { tag: 'Service', method: 'GET', access } as const
  return [
    endpoint({
      ...common,
      operationId: 'getOpenApi',
      path: '/openapi.json',
      summary: 'This document.',
      responseContent: { 'application/json': { type: 'object' } },
    }),
    endpoint({
      ...common,
      operationId: 'getReference',
      path: REFERENCE_PATH,
      summary: 'This document as a page for people, in English or Chinese.',
      query: z.object({
        q: z.string().max(100).optional().describe('Shows the operations that contain these words.'),
        lang: z.enum(['en', 'zh-CN']).optional().describe('Default: what Accept-Language prefers.'),
      }),
      responseContent: { 'text/html': text },
    }),
    endpoint({
      ...common,
      operationId: 'getReferenceStyle',
      path: STYLE_PATH,
      summary: 'The styles of the page.',
      responseContent: { 'text/css': text },
    }),
    endpoint({
      ...common,
      operationId: 'getReadiness',
      path: '/readyz',
      summary: 'Whether the process takes requests now, for load balancers.',
      responseContent: { 'text/plain': text },
      alternative: { status: 503, description: 'It does not; the text says why.', response: undefined },
    }),
  ]
}
