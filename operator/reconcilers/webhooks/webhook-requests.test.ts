import { expect, test } from 'vitest'
import { WebhookEndpoint } from '../../resources/webhook-endpoint.ts'
import { nextLook, requestsOf } from './webhook-requests.ts'

const now = new Date('2026-11-24T10:00:00Z')
const past = '2026-11-24T09:00:00Z'
const future = '2026-11-24T11:00:00Z'

function resource(annotations: Record<string, string>, rotationIntervalDays = 0) {
  const { metadata, spec } = WebhookEndpoint.parse({
    metadata: {
      ...{ name: 'a', namespace: 'n', uid: 'u', generation: 1, resourceVersion: '1', annotations },
      creationTimestamp: past,
    },
    spec: { url: 'https://hooks.example.com', rotationIntervalDays },
  })
  return { metadata, spec }
}

const DAY = 86_400_000
test.each<[string, Record<string, string>, number, object]>([
  ['nothing', {}, 0, { enableAt: undefined, rotateBefore: undefined, next: undefined }],
  ['an empty annotation', { 'postwright.dev/enable-at': '' }, 0, { enableAt: undefined }],
  ['a time that has come', { 'postwright.dev/enable-at': past }, 0, { enableAt: new Date(past), next: undefined }],
  ['a time to come', { 'postwright.dev/enable-at': future }, 0, { enableAt: undefined, next: new Date(future) }],
  ['a rotation', { 'postwright.dev/rotate-at': past }, 0, { rotateBefore: new Date(past) }],
  ['an interval', {}, 2, { rotateBefore: new Date(now.getTime() - 2 * DAY) }],
  ['the later of both', { 'postwright.dev/rotate-at': past }, 2, { rotateBefore: new Date(past) }],
  [
    'the earlier of two times to come',
    { 'postwright.dev/rotate-at': future, 'postwright.dev/enable-at': '2027-01-01' },
    0,
    { rotateBefore: undefined, next: new Date(future) },
  ],
])('asks for %s', (_, annotations, days, expected) => {
  expect(requestsOf(resource(annotations, days), now)).toMatchObject(expected)
})

test.each(['postwright.dev/enable-at', 'postwright.dev/rotate-at'])('%s that is no time is refused', annotation => {
  const { condition } = requestsOf(resource({ [annotation]: 'soon' }), now) as { condition: object }
  expect(condition).toMatchObject({
    status: 'False',
    reason: 'InvalidAnnotation',
    message: expect.stringContaining(annotation),
  })
})

test.each<[string, number, Date | undefined, Date | undefined]>([
  ['never', 0, undefined, undefined],
  ['at the end of the interval', 1, undefined, new Date(now.getTime() + DAY)],
  ['at the time of an annotation', 1, new Date(future), new Date(future)],
])('looks again %s', (_, days, next, expected) => {
  const requests = { enableAt: undefined, rotateBefore: undefined, next }
  expect(nextLook(resource({}, days), requests, now)).toEqual(expected)
})
