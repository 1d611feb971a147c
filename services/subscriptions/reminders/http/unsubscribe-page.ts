/**
 * `/unsubscribe/{token}`: target of the link in a reminder. A GET changes nothing, because mail filters follow links; a
 * POST ends the reminders, from the page's button or by one click in a mail program (RFC 8058). Outside the envelope:
 * the reader is a person.
 */
import type Router from '@koa/router'
import type { WebContext } from '../../../platform/http/web-app.ts'
import type { Subscriptions } from '../../context.ts'
import { recipientOf, stopReminders, UNSUBSCRIBE_PATH } from '../unsubscribe-link.ts'

/** Chinese and English: the language of the reader is unknown. */
const TEXTS = {
  question: ['不再接收订阅到期提醒？', 'No more mail before a subscription ends?'],
  button: ['不再接收', 'No more reminders'],
  done: ['您将不再收到到期提醒。', 'You will get no more reminders.'],
  duty: [
    '自动续费前的通知仍会发送。',
    'Notices before an automatic renewal are still sent: turn the renewal off to end them.',
  ],
  unknown: ['链接无效。', 'This link is not valid.'],
} as const
type Text = keyof typeof TEXTS

/** Mounts the page. */
export function mountUnsubscribe(router: Router, subscriptions: Subscriptions): void {
  const path = `${UNSUBSCRIBE_PATH}/:token`
  const serve = (show: (context: WebContext, token: string) => Promise<void>) => async (context: WebContext) => {
    context.state.route = UNSUBSCRIBE_PATH
    await show(context, String(context.params.token))
  }
  router.get(
    path,
    serve(async (context, token) => {
      if (recipientOf(subscriptions, token))
        page(context, 200, `${paragraphs('question')}<form method="post"><button>${both('button')}</button></form>`)
      else page(context, 404, paragraphs('unknown'))
    }),
  )
  router.post(
    path,
    serve(async (context, token) => {
      const recipient = recipientOf(subscriptions, token)
      if (!recipient) return page(context, 404, paragraphs('unknown'))
      await stopReminders(subscriptions, recipient)
      return page(context, 200, paragraphs('done') + paragraphs('duty'))
    }),
  )
}

const both = (text: Text) => TEXTS[text].join(' / ')
const paragraphs = (text: Text) =>
  TEXTS[text].map((words, i) => `<p lang="${i === 0 ? 'zh' : 'en'}">${words}</p>`).join('')

/** The address contains the token: no referrer is sent and nothing is loaded from other sites. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex',
}

function page(context: WebContext, status: number, body: string): void {
  context.status = status
  context.set(HEADERS)
  context.type = 'text/html; charset=utf-8'
  context.body = `<!doctype html><html lang="zh"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${both('button')}</title><body>${body}</body></html>\n`
}
