/** What the original serves and this service does not: 501, so that no application takes it for a wrong id. */

import type { WebContext } from '../../../platform/http/web-app.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { notServed } from '../rules/foreign-error.ts'

/** Addresses by their beginning; those that are served were found before. */
const UNSERVED =
  /^\/(?:audiences|automations|broadcasts|contact-properties|contacts|events|inboxes|logs|oauth|segments|topics|usage|emails\/(?:receiving|metrics|[^/]+\/(?:attachments|share))|domains\/(?:claim|[^/]+\/claim))(?:\/|$)/

/** Middleware that refuses them. */
export async function refuseUnserved({ path, method }: WebContext, next: () => Promise<void>): Promise<void> {
  if (UNSERVED.test(path)) throw notServed(sentence('compat.not_served', { method, path: path.slice(0, 100) }))
  await next()
}
