import { expect, test } from 'vitest'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { type StoredSentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type Explained, explained, explanationOf } from './explanation.ts'

const GONE = sentence('delivery.message_gone')
const AT_HOST = sentence('delivery.at_host', { host: '192.0.2.1', reason: verbatim('connect ECONNREFUSED') })

test.each<[string, StoredSentence, Explained, StoredSentence]>([
  ['the words of a server', '451 4.7.1 later', { text: '451 4.7.1 later' }, '451 4.7.1 later'],
  ['an empty text', '', { text: '' }, ''],
  ['a text that is marked as not ours', verbatim('EPIPE'), { text: 'EPIPE' }, 'EPIPE'],
  ['a sentence', GONE, { text: 'the stored message is gone', explanation: GONE }, GONE],
  ['words inside a sentence', AT_HOST, { text: '192.0.2.1: connect ECONNREFUSED', explanation: AT_HOST }, AT_HOST],
])('%s is stored in English, and with its code where it is ours', (_, given, stored, read) => {
  expect(explained(given)).toEqual(stored)
  expect(explanationOf(stored)).toEqual(read)
})
