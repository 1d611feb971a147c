/** Tracked links and images, as the document of the API shows them. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { PROBE_PATH } from '../../message/tracking-host.ts'
import { CLICK_PATH, OPEN_PATH } from '../tracking-link.ts'

const common = { tag: 'Service', method: 'GET', access: { kind: 'public' } as const } as const

/** Any caller that has an address from a message. */
export const trackingOperations = [
  endpoint({
    ...common,
    operationId: 'followTrackedLink',
    path: `${CLICK_PATH}/{token}`,
    summary: 'Leads to the target of a link in tracked mail, and records the click.',
    params: z.object({ token: z.string().min(1) }),
    status: 302,
    responseHeaders: { Location: { description: 'The target.', schema: { type: 'string' }, required: true } },
  }),
  endpoint({
    ...common,
    operationId: 'showTrackedImage',
    path: `${OPEN_PATH}/{image}`,
    summary: 'Gives the invisible image of tracked mail, and records that it was opened.',
    params: z.object({ image: z.string().min(1) }),
    responseContent: { 'image/gif': { type: 'string', format: 'binary' } },
  }),
  endpoint({
    ...common,
    operationId: 'probeTrackingHost',
    path: PROBE_PATH,
    summary: 'Shows to DNS checks that a host leads to this installation.',
    responseContent: { 'text/plain': { type: 'string' } },
  }),
]
