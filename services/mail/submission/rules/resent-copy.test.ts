import { expect, test } from 'vitest'
import { freshCopy } from './resent-copy.ts'

const ours =
  'Received: from api ([192.0.2.1])\r\n\tby mail.example.com with HTTP id em_1;\r\n\tSat, 21 Nov 2026 10:00:00 +0000\r\n'
const theirs = 'Received: from a by b; Fri, 20 Nov 2026 10:00:00 +0000\r\n'

test.each([
  [
    'our trace and the id go',
    `${ours}From: a@example.com\r\nMessage-ID: <1@x>\r\nSubject: s\r\n\r\nbody`,
    'From: a@example.com\r\nSubject: s\r\n\r\nbody',
  ],
  [
    'an earlier trace stays',
    `${ours}${theirs}From: a@example.com\r\n\r\nbody`,
    `${theirs}From: a@example.com\r\n\r\nbody`,
  ],
  [
    'a folded id goes whole',
    `${ours}Message-ID:\r\n <1@x>\r\nFrom: a@example.com\r\n\r\nMessage-ID: <2@x>`,
    'From: a@example.com\r\n\r\nMessage-ID: <2@x>',
  ],
  ['without either nothing changes', 'From: a@example.com\r\n\r\nbody', 'From: a@example.com\r\n\r\nbody'],
])('%s', (_, stored, copy) => {
  expect(freshCopy(Buffer.from(stored)).toString()).toBe(copy)
})
