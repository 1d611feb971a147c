import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { openSender, type Sender } from '../../support/mail/load-sender.ts'
import { LOGIN_NAME, type SubmissionProcess, startSubmissionProcess } from '../../support/mail/submission-process.ts'
import { residentMiB } from '../../support/processes/service-process.ts'
import { until } from '../../support/time/until.ts'

const ENVELOPE = 'MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nRCPT TO:<c@example.net>\r\nDATA\r\n'
const mailOf = (bytes: number) => `From: a@example.org\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(bytes / 78)}.\r\n`

async function start(): Promise<SubmissionProcess> {
  const submission = await startSubmissionProcess()
  onTestFinished(() => submission.stop())
  return submission
}

/** Clients that send until they are stopped, reconnect when their connection breaks, and count the replies. */
function startLoad({ port }: SubmissionProcess, clients: number) {
  const accepted: string[] = []
  const replies = new Map<string, number>()
  let going = true
  const work = async () => {
    let sender: Sender | undefined
    while (going) {
      try {
        sender ??= await openSender(port, LOGIN_NAME, PASSWORD)
        const reply = await sender.send(ENVELOPE, mailOf(4_000))
        replies.set(reply.slice(0, 9), (replies.get(reply.slice(0, 9)) ?? 0) + 1)
        const id = /^250 2\.0\.0 queued as (em_\w+)$/.exec(reply)?.[1]
        if (id) accepted.push(id)
        else await sleep(20)
      } catch {
        sender?.close()
        sender = undefined
        await sleep(20)
      }
    }
    sender?.close()
  }
  const all = Array.from({ length: clients }, work)
  const end = async () => {
    going = false
    await Promise.all(all)
  }
  onTestFinished(end)
  return {
    accepted,
    replies,
    async more(count: number) {
      const wanted = accepted.length + count
      await until(() => accepted.length >= wanted, 60_000)
    },
    end,
  }
}

/** Checks that every message that got 250 is stored with both deliveries and its body. */
async function expectKept({ mongo }: SubmissionProcess, accepted: readonly string[]) {
  const kept = async (collection: string, field: string) => {
    const found = await mongo.db
      .collection(collection)
      .find({})
      .project({ [field]: 1 })
      .toArray()
    const counts = new Map<string, number>()
    for (const document of found) counts.set(document[field], (counts.get(document[field]) ?? 0) + 1)
    return counts
  }
  const [messages, deliveries, bodies] = [
    await kept('messages', '_id'),
    await kept('deliveries', 'm'),
    await kept('bodies', 'm'),
  ]
  expect(accepted.filter(id => !messages.has(id))).toEqual([])
  expect(accepted.filter(id => deliveries.get(id) !== 2)).toEqual([])
  expect(accepted.filter(id => bodies.get(id) !== 1)).toEqual([])
}

describe('under load', () => {
  test('killing the SMTP process at random moments loses no message that got 250', async () => {
    const submission = await start()
    const load = startLoad(submission, 8)
    for (let kill = 0; kill < 3; kill++) {
      await load.more(50)
      await sleep(Math.random() * 100)
      submission.service.kill('SIGKILL')
      await submission.restart()
    }
    await load.more(50)
    await load.end()
    await expectKept(submission, load.accepted)
  }, 300_000)

  test('killing mongod loses no message that got 250; clients get 451 and are served again without a restart', async () => {
    const submission = await start()
    const load = startLoad(submission, 8)
    // The others may all wait for the outcome of a write, for a minute each: this one has none under way at the crash.
    const idle = await openSender(submission.port, LOGIN_NAME, PASSWORD)
    onTestFinished(() => idle.close())
    const replies = new Set<string>()
    for (let kill = 0; kill < 2; kill++) {
      await load.more(50)
      await sleep(Math.random() * 100)
      await submission.mongod.crash()
      for (let n = 0; n <= 20; n++) {
        const reply = await idle.send(ENVELOPE, mailOf(4_000))
        expect(reply).toMatch(/^451 4\.3\.0 /)
        replies.add(reply.slice(0, 9))
      }
      await submission.mongod.start()
      await load.more(50)
    }
    await load.end()
    await expectKept(submission, load.accepted)
    expect([...replies.union(new Set(load.replies.keys()))].sort()).toEqual(['250 2.0.0', '451 4.3.0'])
  }, 300_000)
})

test('while mongod does not run, rejections are fast and memory does not grow', async () => {
  const submission = await start()
  const sender = await openSender(submission.port, LOGIN_NAME, PASSWORD)
  const mail = mailOf(500_000)
  for (let i = 0; i < 20; i++) expect(await sender.send(ENVELOPE, mail)).toMatch(/^250 /)
  await submission.mongod.crash()
  await until(async () => {
    const started = performance.now()
    const reply = await sender.send(ENVELOPE, mail)
    return reply.startsWith('451') && performance.now() - started < 500
  }, 60_000)
  const before = residentMiB(submission.service.pid)
  for (let i = 0; i < 200; i++) expect(await sender.send(ENVELOPE, mail)).toMatch(/^451 4\.3\.0 /)
  expect(residentMiB(submission.service.pid) - before).toBeLessThan(80) // 200 messages are 100 MB
  await submission.mongod.start()
  await until(async () => (await sender.send(ENVELOPE, mail)).startsWith('250'), 60_000)
  sender.close()
}, 300_000)

test('SIGTERM under load answers every message in flight and exits with 0', async () => {
  const submission = await start()
  const load = startLoad(submission, 8)
  await load.more(100)
  submission.service.kill('SIGTERM')
  expect(await submission.service.exited).toBe(0)
  await load.end()
  await expectKept(submission, load.accepted)
})
