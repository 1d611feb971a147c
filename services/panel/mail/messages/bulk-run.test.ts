import { expect, test } from 'vitest'
import { ApiProblem } from '../../api/problem.ts'
import { type BulkProgress, eligibleFor, runBulk } from './bulk-run.ts'
import type { ListedMessage } from './message-table.tsx'

const message = (id: string, ...statuses: ListedMessage['status'][]) =>
  ({
    id,
    subject: id,
    recipients: statuses.map(status => ({ email: 'a@example.net', type: 'to', status })),
  }) as never as ListedMessage

const limited = (retryAfter?: number) => new ApiProblem({ code: 'rate_limited', status: 429, detail: '', retryAfter })

test.each([
  ['retry', ['b'], 2],
  ['cancel', ['a', 'b', 'c'], 5],
] as const)('%s concerns messages with recipients that wait for it', (action, ids, recipients) => {
  const all = [
    message('a', 'queued', 'delivered'),
    message('b', 'deferred', 'deferred', 'bounced', 'scheduled'),
    message('c', 'scheduled'),
    message('d', 'delivered'),
  ]
  const eligible = eligibleFor(action, all)
  expect([eligible.messages.map(({ id }) => id), eligible.recipients]).toEqual([ids, recipients])
})

test('all are run, at most four at once, and a failure stops no other', async () => {
  const reports: BulkProgress[] = []
  let [running, most] = [0, 0]
  const act = async (id: string) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    if (id === '3') throw new Error('no')
  }
  const messages = Array.from({ length: 11 }, (_, n) => message(String(n), 'queued'))
  await runBulk(messages, act, progress => reports.push(progress))
  expect(most).toBe(4)
  expect(reports.map(({ done }) => done)).toEqual(Array.from({ length: 12 }, (_, n) => n))
  expect(reports.at(-1)?.failures.map(({ message: { id }, error }) => [id, String(error)])).toEqual([
    ['3', 'Error: no'],
  ])
})

test('what came too early for the rate is repeated after the time that the service names, and then fails', async () => {
  const pauses: number[] = []
  const pause = async (seconds: number) => void pauses.push(seconds)
  const answers = [limited(3), limited()]
  const act = async () => {
    const answer = answers.shift()
    if (answer) throw answer
  }
  let last: BulkProgress | undefined
  const report = (progress: BulkProgress) => {
    last = progress
  }
  await runBulk([message('a', 'queued')], act, report, pause)
  expect([pauses, last]).toEqual([[3, 1], { done: 1, failures: [] }])
  await runBulk([message('a', 'queued')], () => Promise.reject(limited()), report, pause)
  expect([last?.done, last?.failures.length, pauses.length]).toEqual([1, 1, 7])
})

test('without messages nothing happens', async () => {
  const reports: BulkProgress[] = []
  await runBulk(
    [],
    () => Promise.reject(new Error('no')),
    progress => reports.push(progress),
  )
  expect(reports).toEqual([{ done: 0, failures: [] }])
})
