/** `GET /api/v1/limits`: what a message may have and how fast an account may send. */
import type Router from '@koa/router'
import type { Config } from '../../platform/config.ts'
import { type Authorise, bind } from '../../platform/web.ts'
import { EMAIL_LIMITS } from '../rules/email-parts.ts'
import type { Access } from './access.ts'
import type { Principal } from './authorise.ts'
import { getLimits } from './emails-contract.ts'

/** Adds the operation to a router. */
export function addLimitsRoute(
  router: Router,
  { authorise, config }: { authorise: Authorise<Access, Principal>; config: Config },
): void {
  bind(router, authorise, getLimits, async () => ({
    recipients: EMAIL_LIMITS.recipients,
    subject_characters: EMAIL_LIMITS.subject,
    text_bytes: EMAIL_LIMITS.text,
    message_bytes: config.MAX_MESSAGE_BYTES,
    attachments: EMAIL_LIMITS.attachments,
    headers: EMAIL_LIMITS.headers,
    header_bytes: EMAIL_LIMITS.headerBytes,
    tags: EMAIL_LIMITS.tags,
    metadata_keys: EMAIL_LIMITS.metadata,
    batch: EMAIL_LIMITS.batch,
    schedule_days: EMAIL_LIMITS.scheduleDays,
    sends_per_second: config.SEND_REQUESTS_PER_SECOND,
  }))
}
