/** `POST /notify/{channel}/{app_key}`: each channel gets the reply that its protocol expects, outside the envelope. */
import type Router from '@koa/router'
import { readBytes } from '../../../platform/http/json-body.ts'
import { toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import { type ProblemCode, problems, problemTitle } from '../../../platform/problems.ts'
import type { Subscriptions } from '../../context.ts'
import type { ChannelName } from '../channel-settings.ts'
import { NoticeRefused, type RefusalReason } from '../channels/notice.ts'
import { receiveNotice } from '../receive-notice.ts'

/** Largest notice in bytes; real ones have some kilobytes. */
const MAX_BYTES = 256 * 1024

/** The replies of a channel's protocol for success and for "send again". */
interface Replies {
  yes(context: WebContext): void
  no(context: WebContext, message: string): void
}

const REPLIES: Readonly<Record<ChannelName, Replies>> = {
  alipay: {
    yes(context) {
      context.body = 'success'
    },
    no(context) {
      context.body = 'failure'
    },
  },
  // Any 200 would stop the repeats.
  wechat: {
    yes(context) {
      context.status = 204
    },
    no(context, message) {
      context.body = { code: 'FAIL', message }
    },
  },
  huawei: {
    yes(context) {
      context.status = 200
      context.body = ''
    },
    no(context) {
      context.body = ''
    },
  },
}

const STATUS: Readonly<Record<RefusalReason, number>> = { forged: 401, late: 401, mismatch: 422, malformed: 400 }

/** Mounts the endpoint for notices. */
export function mountNotices(router: Router, subscriptions: Subscriptions): void {
  for (const channel of Object.keys(REPLIES) as ChannelName[])
    router.post(`/notify/${channel}/:app_key`, async (context: WebContext) => {
      context.state.route = `/notify/${channel}`
      const count = (outcome: string) => subscriptions.metrics.notices.inc({ channel, outcome })
      try {
        const body = (await readBytes(context, { bytes: MAX_BYTES })).toString()
        const appKey: string = context.params.app_key ?? ''
        count(await receiveNotice(subscriptions, { channel, appKey, body, header: name => context.get(name) }))
        REPLIES[channel].yes(context)
      } catch (error) {
        const { status, reason, message } = refusalOf(error)
        count(reason)
        subscriptions.log.warn({ channel, app: context.params.app_key, reason, err: error }, 'notice refused')
        context.status = status
        REPLIES[channel].no(context, message)
      }
    })
}

function refusalOf(error: unknown): { status: number; reason: RefusalReason | ProblemCode; message: string } {
  if (error instanceof NoticeRefused)
    return { status: STATUS[error.reason], reason: error.reason, message: error.message }
  const { code } = toProblem(error)
  return { status: problems[code].http, reason: code, message: problemTitle(code) }
}
