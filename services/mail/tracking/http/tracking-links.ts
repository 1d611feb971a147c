/**
 * `/t/…`: links and images of tracked mail. They answer also while the database is away or the domain tracks no more: mail
 * that was sent must keep working. A link answers at the host that it was made for. HEAD records nothing.
 */
import type Koa from 'koa'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import { type BothLanguages, showNotice } from '../../../platform/http/notice-page.ts'
import { createRouter, type WebContext } from '../../../platform/http/web-app.ts'
import type { Foundation } from '../../../platform/process/run.ts'
import { PROBE_PATH, probeAnswers } from '../../message/tracking-host.ts'
import { createRecordEngagement } from '../record-engagement.ts'
import { type Engagement, MAX_USER_AGENT } from '../rules/engagement.ts'
import { isMachine } from '../rules/machine.ts'
import { createTrackedDomains } from '../tracked-domains.ts'
import { CLICK_PATH, OPEN_PATH, readClickToken, readOpenToken } from '../tracking-link.ts'

const TITLE: BothLanguages = ['链接无效', 'Link not valid']
const UNKNOWN: BothLanguages = [
  '此链接无效：它不完整，或被更改过。',
  'This link is not valid: it is incomplete, or was changed.',
]
/** One transparent pixel. */
const IMAGE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
/** A reader does not wait longer for what is recorded, in milliseconds. */
const RECORD_MS = 2_000

/** Mounts links, images and the probe. */
export function mountTrackingLinks(
  app: Koa,
  { mongo, clock, secrets, config, log }: Pick<Foundation, 'mongo' | 'clock' | 'secrets' | 'config' | 'log'>,
): void {
  const findDomain = createTrackedDomains({ db: mongo.db, clock, config })
  const record = createRecordEngagement({ mongo, clock, logDays: config.RETENTION_LOG_DAYS, findDomain })
  const note = async (context: WebContext, what: Pick<Engagement, 'kind' | 'deliveryId' | 'url'>) => {
    if (context.method === 'HEAD') return
    const userAgent = context.get('user-agent').slice(0, MAX_USER_AGENT)
    const purpose = context.get('sec-purpose') || context.get('purpose')
    const engagement = { ...what, userAgent, machine: isMachine({ userAgent, purpose }) }
    await withTimeout(RECORD_MS, record(engagement)).catch((error: unknown) =>
      log.warn({ err: error, delivery: what.deliveryId, kind: what.kind }, 'an open or a click was not recorded'),
    )
  }
  const router = createRouter()

  router.get(`${CLICK_PATH}/:token`, async context => {
    context.state.route = CLICK_PATH
    const link = readClickToken(secrets, String(context.params.token), context.hostname)
    if (!link) return showNotice(context, { status: 404, title: TITLE, paragraphs: [UNKNOWN] })
    await note(context, { kind: 'clicked', deliveryId: link.deliveryId, url: link.target })
    context.status = 302
    context.set({ Location: link.target, 'X-Robots-Tag': 'noindex' })
    context.body = ''
  })

  router.get(`${OPEN_PATH}/:image`, async context => {
    context.state.route = OPEN_PATH
    const [, token = ''] = /^(.+)\.gif$/.exec(String(context.params.image)) ?? []
    const deliveryId = readOpenToken(secrets, token)
    if (deliveryId === undefined) return showNotice(context, { status: 404, title: TITLE, paragraphs: [UNKNOWN] })
    await note(context, { kind: 'opened', deliveryId })
    context.status = 200
    // Mail is read on pages of other origins.
    context.set({ 'Cross-Origin-Resource-Policy': 'cross-origin', 'X-Robots-Tag': 'noindex' })
    context.type = 'image/gif'
    context.body = IMAGE
  })

  router.get(PROBE_PATH, async context => {
    context.type = 'text/plain; charset=utf-8'
    context.body = probeAnswers(text => secrets.macs('tracking', text), context.hostname)[0]
    await Promise.resolve()
  })
  app.use(router.routes())
}
