/** Everything but the operator in one process, for a laptop or a small server: what `npm start` runs. */
import { findFirstAdmin } from './accounts/store/users.ts'
import { admin } from './admin.ts'
import { compat } from './compat.ts'
import { inbound } from './inbound.ts'
import { issueToken } from './mail/credentials/manage-tokens.ts'
import { sandboxName } from './mail/first-start.ts'
import { type Outlet, welcomeText } from './mail/welcome.ts'
import { panel } from './panel.ts'
import type { Config } from './platform/process/config.ts'
import { type Foundation, run, stoppedInParallel, together } from './platform/process/run.ts'
import { prepareTrial, type Trial } from './platform/process/trial.ts'
import type { Running } from './platform/running.ts'
import { smtp } from './smtp.ts'
import { worker } from './worker.ts'

/** Starts all parts, each stopped before those that it needs. */
export async function all(foundation: Foundation): Promise<Running> {
  const delivery = await worker(foundation)
  const entrances: Running[] = []
  const parts = together(delivery, stoppedInParallel(entrances))
  // One after the other: when one cannot start, those before it stop in order.
  try {
    const reports = foundation.config.BOUNCE_DOMAIN ? [inbound] : []
    for (const start of [panel, admin, compat, smtp, ...reports]) entrances.push(await start(foundation))
    return parts
  } catch (error) {
    await parts.stop()
    throw error
  }
}

if (import.meta.main) {
  const report = (text: string) => process.stderr.write(`postwright: ${text}\n`)
  let trial: Trial | undefined
  await run(
    'postwright',
    process.env,
    async foundation => {
      const parts = await all(foundation)
      if (trial?.logins) await welcome(foundation, trial)
      else report(`the panel is at ${foundation.config.APP_BASE_URL}`)
      return parts
    },
    async env => {
      trial = await prepareTrial(env, report)
      return trial
    },
  )
}

/** Shows the generated logins once. The token is created here because only its creation returns its value. */
async function welcome({ config, mongo, clock }: Foundation, trial: Trial): Promise<void> {
  const owner = await findFirstAdmin(mongo.db)
  if (!owner || !trial.logins) return
  const { ADMIN_USERNAME, ADMIN_PASSWORD, SMTP_USERNAME, SMTP_PASSWORD } = trial.logins
  const scopes = ['emails:send', 'emails:read']
  const { value } = await issueToken({ db: mongo.db, clock }, owner._id, {
    name: 'first',
    mode: 'live',
    scopes,
    domains: [],
    allowed_cidrs: [],
  })
  const [listener] = config.SUBMISSION_LISTEN.filter(({ mode }) => mode === 'starttls')
  process.stdout.write(
    welcomeText({
      panelUrl: config.APP_BASE_URL,
      admin: { username: ADMIN_USERNAME, password: ADMIN_PASSWORD },
      smtp: {
        host: config.SUBMISSION_HOST ?? config.MAIL_HOSTNAME,
        port: listener?.port ?? 0,
        username: SMTP_USERNAME,
        password: SMTP_PASSWORD,
      },
      token: value,
      compatUrl: `http://${config.APP_HOST}:${config.COMPAT_PORT}`,
      outlet: outletOf(config),
    }),
  )
  await trial.loginsShown()
}

function outletOf({ DELIVERY_MODE: mode, MAIL_HOSTNAME: hostname, RELAY_URL }: Config): Outlet {
  if (mode === 'capture') return { mode, domain: sandboxName(hostname) }
  // The configuration has RELAY_URL in this mode; its login must not be shown.
  return mode === 'relay' ? { mode, relay: RELAY_URL ? new URL(RELAY_URL).host : '' } : { mode, hostname }
}
