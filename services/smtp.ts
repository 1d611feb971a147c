/** SMTP submission as a process of its own: clients log in and hand over mail. */
import { createLoginLimiter, knownNetworks, loginLimits } from './accounts/login-limiter.ts'
import { users } from './accounts/store/users.ts'
import { createSmtpLogin } from './mail/login.ts'
import { openDoor } from './mail/open-door.ts'
import { tellCertificate } from './mail/served-certificates.ts'
import { listenForSubmission } from './mail/smtp/listener.ts'
import { BODIES } from './mail/store/bodies.ts'
import { CERTIFICATES } from './mail/store/certificates.ts'
import { credentials } from './mail/store/credentials.ts'
import { DELIVERIES } from './mail/store/deliveries.ts'
import { domains } from './mail/store/domains.ts'
import { EVENTS } from './mail/store/events.ts'
import { MESSAGES } from './mail/store/messages.ts'
import { QUOTAS } from './mail/store/quota.ts'
import { fixSlotCount } from './mail/store/slots.ts'
import { ensureIndexes } from './platform/mongo.ts'
import { type Foundation, type Running, run } from './platform/run.ts'

/** Collections that this process reads or writes. */
const COLLECTIONS = [
  users,
  loginLimits,
  knownNetworks,
  credentials,
  domains,
  QUOTAS,
  MESSAGES,
  DELIVERIES,
  BODIES,
  EVENTS,
  CERTIFICATES,
]

/** Serves SUBMISSION_LISTEN; resolves with the bound ports in its order. */
export async function smtp(foundation: Foundation): Promise<Running & { ports: number[] }> {
  const { config, log, metrics, mongo, clock, secrets } = foundation
  await ensureIndexes(mongo.db, COLLECTIONS)
  const door = openDoor(foundation, await fixSlotCount(mongo, config.SLOTS))
  const limiter = createLoginLimiter({ db: mongo.db, metrics, channel: 'smtp' })
  const { logIn: checkLogin, renew: renewLogin } = createSmtpLogin({
    db: mongo.db,
    clock,
    log,
    metrics,
    secrets,
    limiter,
  })
  const { accept, openRest, judgeSender } = door
  const checks = { accept, openRest, judgeSender, checkLogin, renewLogin, isUp: mongo.isUp }
  const certificate = tellCertificate({ mongo, clock, log }, config.SUBMISSION_TLS_CERT ?? '')
  const onCertificate = (pem: string) => void certificate.serve(pem)
  const listener = await listenForSubmission({ config, log, metrics, ...checks, onCertificate })
  return {
    ports: listener.ports,
    async stop() {
      certificate.stop()
      await listener.stop()
      await door.stop()
    },
  }
}

if (import.meta.main) await run('smtp', process.env, smtp)
