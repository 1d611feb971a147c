import { expect, test } from 'vitest'
import { bounceTone, ratesOf } from './delivery-rates.ts'

test.each([
  ['no final status yet', { recipients: 9, delivered: 0, bounced: 0, failed: 0, complained: 0 }, undefined],
  ['all arrived', { recipients: 9, delivered: 9, bounced: 0, failed: 0, complained: 0 }, { delivered: 1, bounced: 0 }],
  [
    'waiting recipients do not count',
    { recipients: 9, delivered: 3, bounced: 1, failed: 0, complained: 0 },
    { delivered: 0.75, bounced: 0.25 },
  ],
  [
    'failed counts as bounced',
    { recipients: 4, delivered: 2, bounced: 1, failed: 1, complained: 0 },
    { delivered: 0.5, bounced: 0.5 },
  ],
  [
    'who complains got the message',
    { recipients: 4, delivered: 2, bounced: 1, failed: 0, complained: 1 },
    { delivered: 0.75, bounced: 0.25 },
  ],
])('%s', (_, counts, rates) => {
  expect(ratesOf(counts)).toEqual(rates)
})

test.each([
  [0, 'ok'],
  [0.02, 'ok'],
  [0.0201, 'warn'],
  [0.05, 'warn'],
  [0.0501, 'bad'],
])('a bounce rate of %f is %s', (rate, tone) => {
  expect(bounceTone(rate)).toBe(tone)
})
