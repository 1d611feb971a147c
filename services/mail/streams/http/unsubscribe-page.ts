/**
 * `/u/{token}`: the link in bulk mail. A GET changes nothing, because mail filters follow links; a POST ends the mail of
 * the list at once, by one click in a mail program (RFC 8058) or by a button of the page. There is no login: the token is
 * encrypted and names the recipient.
 */
import type Koa from 'koa'
import { readBytes } from '../../../platform/http/json-body.ts'
import { type BothLanguages, showNotice } from '../../../platform/http/notice-page.ts'
import { createRouter, type WebContext } from '../../../platform/http/web-app.ts'
import type { Foundation } from '../../../platform/process/run.ts'
import { unsubscribe } from '../unsubscribe.ts'
import { readUnsubscribeToken, type Subscriber, UNSUBSCRIBE_PATH } from '../unsubscribe-link.ts'

const TITLE: BothLanguages = ['退订', 'Unsubscribe']
const UNKNOWN: BothLanguages = ['链接无效。', 'This link is not valid.']
/** Of a form with one field, in either encoding. */
const FORM_BYTES = 4_096
const ALL_BULK = 'bulk'

/** Mounts the page. */
export function mountUnsubscribePage(
  app: Koa,
  foundation: Pick<Foundation, 'mongo' | 'clock' | 'secrets' | 'config'>,
): void {
  const { secrets, config } = foundation
  const deps = { ...foundation, logDays: config.RETENTION_LOG_DAYS }
  const router = createRouter()
  const path = `${UNSUBSCRIBE_PATH}/:token`
  const subscriberOf = (context: WebContext) => {
    context.state.route = UNSUBSCRIBE_PATH
    return readUnsubscribeToken(secrets, String(context.params.token))
  }
  router.get(path, async context => {
    const subscriber = subscriberOf(context)
    if (subscriber) ask(context, subscriber)
    else showNotice(context, { status: 404, title: TITLE, paragraphs: [UNKNOWN] })
    await Promise.resolve()
  })
  router.post(path, async context => {
    const subscriber = subscriberOf(context)
    if (!subscriber) return showNotice(context, { status: 404, title: TITLE, paragraphs: [UNKNOWN] })
    const choice = choiceOf((await readBytes(context, { bytes: FORM_BYTES })).toString('latin1'))
    const chosen = choice === 'all' ? { ...subscriber, stream: ALL_BULK } : subscriber
    await unsubscribe(deps, chosen, choice === undefined ? 'one_click' : 'page')
    return showNotice(context, { status: 200, title: TITLE, paragraphs: [done(chosen)] })
  })
  app.use(router.routes())
}

/** What a button of the page sends; mail programs send `List-Unsubscribe=One-Click`, also as multipart/form-data. */
function choiceOf(body: string): string | undefined {
  return /^choice=(?<choice>list|all)$/.exec(body)?.groups?.choice
}

function ask(context: WebContext, { stream, domain, email }: Subscriber): void {
  const list = listOf(stream)
  showNotice(context, {
    status: 200,
    title: TITLE,
    paragraphs: [
      list === undefined
        ? [`不再向 ${email} 发送 ${domain} 的群发邮件？`, `Send no more newsletters of ${domain} to ${email}?`]
        : [
            `不再向 ${email} 发送 ${domain} 的“${list}”邮件？`,
            `Send no more mail of the list “${list}” of ${domain} to ${email}?`,
          ],
    ],
    buttons: [
      { choice: 'list', label: TITLE },
      ...(list === undefined
        ? []
        : [
            {
              choice: 'all',
              label: [`退订 ${domain} 的全部群发邮件`, `Unsubscribe from all newsletters of ${domain}`] as const,
            },
          ]),
    ],
  })
}

function done({ stream, domain, email }: Subscriber): BothLanguages {
  const list = listOf(stream)
  return list === undefined
    ? [`${email} 将不再收到 ${domain} 的群发邮件。`, `${email} gets no more newsletters of ${domain}.`]
    : [
        `${email} 将不再收到 ${domain} 的“${list}”邮件。`,
        `${email} gets no more mail of the list “${list}” of ${domain}.`,
      ]
}

function listOf(stream: string): string | undefined {
  const slash = stream.indexOf('/')
  return slash === -1 ? undefined : stream.slice(slash + 1)
}
