import { describe, expect, test } from 'vitest'
import { chooseStream, type MessageStream } from './message-stream.ts'

const read = { unsubscribe: 'none', hasFeedbackId: false } as const

describe('the stream of a message', () => {
  test.each<[string, Parameters<typeof chooseStream>[0], object, MessageStream]>([
    ['is transactional by default', {}, {}, { lane: 'transactional' }],
    ['is that of the request', { lane: 'bulk' }, {}, { lane: 'bulk' }],
    ['is that of the header', {}, { stream: 'bulk' }, { lane: 'bulk' }],
    [
      'is that of the request before the header',
      { lane: 'transactional' },
      { stream: 'bulk' },
      { lane: 'transactional' },
    ],
    ['has the list of the request', { lane: 'bulk', list: 'a' }, { list: 'b' }, { lane: 'bulk', list: 'a' }],
    ['has the list of the header', {}, { stream: 'bulk', list: 'weekly.de' }, { lane: 'bulk', list: 'weekly.de' }],
    [
      'notes own fields',
      { lane: 'bulk' },
      { unsubscribe: 'one_click', hasFeedbackId: true },
      { lane: 'bulk', own_fields: ['unsubscribe', 'feedback_id'] },
    ],
    [
      'notes own fields of bulk mail only',
      {},
      { unsubscribe: 'incomplete', hasFeedbackId: true },
      { lane: 'transactional' },
    ],
  ])('%s', (_, submission, header, stream) =>
    expect(chooseStream(submission, { ...read, ...header }, true)).toEqual({ stream }),
  )

  test.each<[string, Parameters<typeof chooseStream>[0], object, string, string]>([
    ['unknown', {}, { stream: 'marketing' }, 'bad_header', 'streams.unknown'],
    ['empty', {}, { stream: '' }, 'bad_header', 'streams.unknown'],
    ['a list without bulk', {}, { list: 'weekly' }, 'bad_header', 'streams.list_without_bulk'],
    ['a list of transactional mail', { list: 'weekly' }, {}, 'bad_header', 'streams.list_without_bulk'],
    ['a list with a slash', {}, { stream: 'bulk', list: 'a/b' }, 'bad_header', 'streams.list_name'],
    ['a list of 65 characters', {}, { stream: 'bulk', list: 'a'.repeat(65) }, 'bad_header', 'streams.list_name'],
    ['a list without a name', {}, { stream: 'bulk', list: '' }, 'bad_header', 'streams.list_name'],
    [
      'half of one click',
      { lane: 'bulk' },
      { unsubscribe: 'incomplete' },
      'bulk_without_unsubscribe',
      'streams.incomplete_fields',
    ],
  ])('%s is refused', (_, submission, header, code, detail) =>
    expect(chooseStream(submission, { ...read, ...header }, true)).toMatchObject({ code, detail: { code: detail } }),
  )

  test.each<[string, 'none' | 'one_click', boolean]>([
    ['bulk mail without a public address', 'none', false],
    ['bulk mail with its own link', 'one_click', true],
  ])('%s', (_, unsubscribe, passes) => {
    const chosen = chooseStream({ lane: 'bulk' }, { ...read, unsubscribe }, false)
    expect('stream' in chosen).toBe(passes)
    if (!passes)
      expect(chosen).toMatchObject({ code: 'bulk_without_unsubscribe', detail: { code: 'streams.no_address' } })
  })
})
