/** SMTP submission as a process of its own: clients log in and submit mail. */
import { createLoginLimiter, knownNetworks, loginLimits } from './accounts/login-limiter.ts'
import { users } from './accounts/store/users.ts'
import { reportCertificate } from './mail/administration/report-certificate.ts'
import { CERTIFICATES } from './mail/administration/store/certificates.ts'
import { SmtpLogins } from './mail/credentials/check-smtp-login.ts'
import { credentials } from './mail/credentials/store/smtp-credentials.ts'
import { domains } from './mail/domains/store/domain-model.ts'
import { QUOTAS } from './mail/limits/store/quota-leases.ts'
import { RATES } from './mail/limits/store/rate-leases.ts'
import { sendingLimits } from './mail/limits/store/sending-limits.ts'
import { BODIES } from './mail/store/bodies.ts'
import { DELIVERIES } from './mail/store/deliveries.ts'
import { EVENTS } from './mail/store/events.ts'
import { MESSAGES } from './mail/store/messages.ts'
import { fixSlotCount } from './mail/store/slots.ts'
import { listenForSubmission } from './mail/submission/smtp/listener.ts'
import { expiryOf } from './mail/submission/smtp/tls-files.ts'
import type { Submitter } from './mail/submission/submission.ts'
import { createSubmissionService } from './mail/submission/submission-service.ts'
import { SUPPRESSIONS } from './mail/suppressions/store/suppressions.ts'
import { webhookCollections } from './mail/webhooks/store/webhook-collections.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'

/** Collections that this process reads or writes. */
const COLLECTIONS = [
  users,
  loginLimits,
  knownNetworks,
  credentials,
  domains,
  QUOTAS,
  SUPPRESSIONS,
  RATES,
  sendingLimits,
  MESSAGES,
  DELIVERIES,
  BODIES,
  EVENTS,
  CERTIFICATES,
  ...webhookCollections,
]

/** Serves SUBMISSION_LISTEN; resolves with the bound ports in its order. */
export async function smtp(foundation: Foundation): Promise<Running & { ports: number[] }> {
  const { config, log, metrics, mongo, clock, secrets } = foundation
  await ensureIndexes(mongo.db, COLLECTIONS)
  const submissions = createSubmissionService(foundation, await fixSlotCount(mongo, config.SLOTS))
  const limiter = createLoginLimiter({ db: mongo.db, metrics, channel: 'smtp' })
  const logins = new SmtpLogins({ db: mongo.db, clock, log, metrics, secrets, limiter })
  const { accept, openRest, validateSender } = submissions
  const checks = {
    accept,
    openRest,
    validateSender,
    checkLogin: (username: string, password: string, ip: string) => logins.logIn(username, password, ip),
    renewLogin: (submitter: Submitter) => logins.renew(submitter),
    isUp: mongo.isUp,
  }
  const certificate = reportCertificate({ mongo, clock, log }, config.SUBMISSION_TLS_CERT ?? '')
  const onCertificate = (pem: string) => {
    metrics.certificateExpiry.set({ use: 'submission' }, expiryOf(pem))
    void certificate.serve(pem)
  }
  const listener = await listenForSubmission({ config, log, metrics, ...checks, onCertificate })
  return {
    ports: listener.ports,
    async stop() {
      certificate.stop()
      await listener.stop()
      await submissions.stop()
    },
  }
}

if (import.meta.main) await run('smtp', process.env, smtp)
