/**
 * `/unsubscribe/{token}`: target of the link in a reminder. A GET changes nothing, because mail filters follow links; a
 * POST ends the reminders, from the page's button or by one click in a mail program (RFC 8058). Outside the envelope:
 * the reader is a person.
 */
import type Router from '@koa/router'
import { showNotice } from '../../../platform/http/notice-page.ts'
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
        showNotice(context, {
          ...{ status: 200, title: TEXTS.button, paragraphs: [TEXTS.question] },
          buttons: [{ choice: 'stop', label: TEXTS.button }],
        })
      else showUnknown(context)
    }),
  )
  router.post(
    path,
    serve(async (context, token) => {
      const recipient = recipientOf(subscriptions, token)
      if (!recipient) return showUnknown(context)
      await stopReminders(subscriptions, recipient)
      return showNotice(context, { status: 200, title: TEXTS.button, paragraphs: [TEXTS.done, TEXTS.duty] })
    }),
  )
}

function showUnknown(context: WebContext): void {
  showNotice(context, { status: 404, title: TEXTS.button, paragraphs: [TEXTS.unknown] })
}
