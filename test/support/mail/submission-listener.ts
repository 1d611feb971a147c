/** Submission listeners with a recording submission service, without a database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type Listener,
  type ListenerOptions,
  listenForSubmission,
} from '../../../services/mail/submission/smtp/listener.ts'
import type { Accepted, Refused, Submission } from '../../../services/mail/submission/submission.ts'
import { refuse } from '../../../services/mail/submission/validate-sender.ts'
import { newId } from '../../../services/platform/ids.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics, type Metrics } from '../../../services/platform/observability/metrics.ts'
import { readConfig } from '../../../services/platform/process/config.ts'
import { type Certificate, makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'

/** Settings of a test process; the system chooses the ports. */
const TEST_ENV = {
  MAIL_HOSTNAME: 'mail.example.com',
  SESSION_SECRET: 'a secret for tests of at least 32 bytes',
  SUBMISSION_LISTEN: '0:starttls,0:tls',
  METRICS_PORT: '0',
  LOG_LEVEL: 'silent',
}

/** A certificate and its key in files, removed when the test ends. */
export async function certificateFiles(): Promise<{
  cert: string
  key: string
  replace(pair: Certificate): Promise<void>
}> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-tls-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  const replace = async (pair: Certificate) => {
    await writeFile(files.cert, pair.cert)
    await writeFile(files.key, pair.key)
  }
  await replace(await makeCertificate(['127.0.0.1', 'localhost'], 1, new Date()))
  return { ...files, replace }
}

/** Listeners, and every submission that they passed on. */
export interface TestListener extends Listener {
  starttls: number
  tls: number
  /** Submissions in the order of arrival, large ones as one buffer. */
  received: Submission[]
  metrics: Metrics
}

/** The only login of {@link startListener}. */
export const LOGIN = { username: 'app@example.org', password: 'right' }

/**
 * Starts listeners with one login, {@link LOGIN}, which may send as `@example.org`. Every submission is accepted unless
 * `accept` returns another answer.
 */
export async function startListener(
  over: Partial<Omit<ListenerOptions, 'config'>> & { env?: Record<string, string> } = {},
): Promise<TestListener> {
  const { env, accept, ...rest } = over
  const files = await certificateFiles()
  const config = readConfig({ ...TEST_ENV, SUBMISSION_TLS_CERT: files.cert, SUBMISSION_TLS_KEY: files.key, ...env })
  const metrics = createMetrics('test')
  const received: Submission[] = []
  const parts = new Map<string, Buffer[]>()
  const listener = await listenForSubmission({
    config,
    log: silentLog,
    metrics,
    async accept(submission) {
      const { rest, ...message } = submission
      received.push(rest ? { ...message, raw: Buffer.concat([message.raw, ...(parts.get(rest.id) ?? [])]) } : message)
      return accept ? accept(submission) : acceptedAnswer()
    },
    openRest() {
      const id = newId('em')
      const own: Buffer[] = []
      parts.set(id, own)
      const discard = async () => void parts.delete(id)
      return {
        write: async part => void own.push(Buffer.from(part)),
        discard,
        finish: () => ({ id, size: 0, parts: own.length, lineError: undefined, hash: undefined, discard }),
      }
    },
    async checkLogin(username, password): Promise<Submission['submitter'] | Refused> {
      if (username !== LOGIN.username || password !== LOGIN.password) return refuse('invalid_login')
      return { userId: 'usr_1', via: { channel: 'smtp', id: 'crd_1' }, allowedSenders: [], messagesPerHour: 0 }
    },
    isUp: () => true,
    renewLogin: async submitter => submitter,
    validateSender: async (_, mailFrom) =>
      mailFrom.endsWith('@example.org') ? undefined : refuse(mailFrom ? 'sender_not_allowed' : 'null_sender_refused'),
    ...rest,
  })
  onTestFinished(() => listener.stop())
  const [starttls = 0, tls = 0] = listener.ports
  return { ...listener, starttls, tls, received, metrics }
}

/** An acceptance with a new id. */
export function acceptedAnswer(): Accepted {
  const id = newId('em')
  return {
    kind: 'accepted',
    id,
    messageId: `<${id}@example.org>`,
    createdAt: new Date(),
    recipients: [],
    replayed: false,
  }
}
