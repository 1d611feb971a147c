/** The job of the workers that sends TLS reports, connected to the settings, the queue and the network. */

import { createHash, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { DAY_MS } from '../../platform/durations.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { createGuardedPost } from '../../platform/network/guarded-fetch.ts'
import { isPublicAddress } from '../../platform/network/public-address.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { sendsTlsReports } from '../delivery/setup.ts'
import { policyResolver } from '../delivery/shared-sts-policies.ts'
import { findVerifiedDomain } from '../domains/store/domains.ts'
import { domainOf } from '../message/address.ts'
import { cellsOf } from '../store/cells.ts'
import type { Enqueue } from '../submission/store/store-accepted.ts'
import { createSystemEnqueue } from '../submission/system-mail.ts'
import { SYSTEM_USER } from '../submission/system-sender.ts'
import { tlsReportId, tlsReportMail, tlsReportSubject } from './rules/build-tls-report.ts'
import { type QueueReportMail, sendTlsReports, type TlsReportDeps } from './send-tls-reports.ts'

type Needs = Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log' | 'metrics'>

const MINUTE = 60_000
const JOB = 'send-tls-reports'
/** Longest run, well below the lifetime of the job's lock: a due report waits for the next one. */
const MOST_MS = 4 * MINUTE
/** A report is of no use days later (RFC 8460 section 5.5), and its key is remembered for longer than it is repeated. */
const LIFETIME_MS = DAY_MS
const KEY_LIFE_MS = 5 * DAY_MS

/** Defines the job; without TLS reports it does nothing. */
export async function registerTlsReports(jobs: Jobs, foundation: Needs): Promise<void> {
  const { config } = foundation
  const deps = sendsTlsReports(config) ? await createTlsReportDeps(foundation) : undefined
  jobs.define(JOB, { concurrency: 1, lockLifetimeMs: 10 * MINUTE }, async ({ signal }) => {
    if (deps) await sendTlsReports(deps, signal, MOST_MS)
  })
  await jobs.seed(JOB, 'only', { everyMs: MINUTE })
}

/** What sending needs, from the settings. `ca`: certificate authorities of HTTPS destinations, in tests. */
export async function createTlsReportDeps(foundation: Needs, { ca }: { ca?: string } = {}): Promise<TlsReportDeps> {
  const { config, mongo, clock, log, metrics } = foundation
  const contact = config.SYSTEM_MAIL_FROM ?? `postmaster@${config.MAIL_HOSTNAME}`
  const resolve = policyResolver(config)
  return {
    db: mongo.db,
    now: () => clock.now(),
    lookupTxt: name => resolve(name, 'TXT'),
    post: createGuardedPost({ allowPrivate: config.DELIVERY_ALLOW_PRIVATE, ca }),
    queueMail: createQueueMail(foundation, await createSystemEnqueue(foundation)),
    publicAddress: (from, to) => publicAddress(config.SENDING_IP, from, to),
    reporter: {
      organization: config.TLS_REPORT_ORGANIZATION ?? config.MAIL_HOSTNAME,
      contact,
      hostname: config.MAIL_HOSTNAME,
    },
    metrics,
    log,
  }
}

/**
 * The address that a server saw: that of the connection, or the only one of SENDING_IP in its family where addresses are
 * translated.
 */
export function publicAddress(
  sendingIps: Config['SENDING_IP'],
  from: string | undefined,
  to: string | undefined,
): string | undefined {
  if (from !== undefined && (sendingIps.includes(from) || isPublicAddress(from))) return from
  const [only, second] = sendingIps.filter(address => isIP(address) === isIP(to ?? ''))
  return second === undefined ? only : undefined
}

/** The envelope sender is empty, so that no failure of a report is reported to anyone. */
function createQueueMail({ config, mongo, clock, log }: Needs, enqueue: Enqueue): QueueReportMail {
  let warned = false
  return async (report, file, to) => {
    const signer = await findVerifiedDomain(mongo.db, domainOf(report.contact).toLowerCase())
    if (!signer) {
      if (!warned)
        log.warn({ from: report.contact }, 'no TLS reports by mail: no verified domain signs for their sender')
      warned = true
      return 'unsigned'
    }
    const at = clock.now()
    const hash = createHash('sha256')
      .update(`${tlsReportId(report)}\n${to}`)
      .digest('base64url')
    const id = cellsOf(mongo.db).newMessageIdFor(SYSTEM_USER, `tls-report:${hash}`, at)
    const messageId = `<${id}@${config.MAIL_HOSTNAME}>`
    const boundary = `=_${randomBytes(18).toString('base64url')}`
    const outcome = await enqueue({
      id,
      user_id: SYSTEM_USER,
      domain_id: '',
      via: { channel: 'system' },
      tls_report: true,
      mail_from: '',
      from: report.contact,
      subject: tlsReportSubject(report),
      message_id: messageId,
      lane: 'system',
      ambiguous: 'fail',
      created_at: at,
      expires_at: new Date(at.getTime() + LIFETIME_MS),
      idem: {
        key: `tls-report:${hash}`,
        hash,
        answer: '[]',
        until: new Date(at.getTime() + KEY_LIFE_MS),
      },
      raw: tlsReportMail(report, { to, messageId, boundary, at, file }),
      recipients: [{ email: to, type: 'to' }],
    })
    // key_taken: it is in the queue already, or has gone out.
    if (outcome.kind === 'unavailable') throw new Error('the queue cannot take a TLS report')
    return 'queued'
  }
}
