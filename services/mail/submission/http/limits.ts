/** `GET /api/v1/limits`: what a message may have and how fast an account may send. */
import type Router from '@koa/router'
import type { Clock } from '../../../platform/clock.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { type Authorise, bind } from '../../../platform/http/web-app.ts'
import type { Config } from '../../../platform/process/config.ts'
import type { Access } from '../../http/shared/access.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { defaultLimits } from '../../limits/find-limits.ts'
import { showLimitsOf } from '../../limits/http/limits.ts'
import { recipientsToday } from '../../limits/store/quota-leases.ts'
import { EMAIL_LIMITS } from '../rules/email-parts.ts'
import { getLimits } from './send-contract.ts'

/** Adds the operation to a router. */
export function addLimitsRoute(
  router: Router,
  {
    authorise,
    config,
    mongo,
    clock,
  }: { authorise: Authorise<Access, Principal>; config: Config; mongo: Mongo; clock: Clock },
): void {
  bind(router, authorise, getLimits, async (_, { account }) => ({
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
    recipients_per_day: account.recipientsPerDay,
    recipients_today: (await recipientsToday(mongo.db, [account.id], clock.now())).get(account.id) ?? 0,
    sending_limits: await showLimitsOf({ mongo, clock, defaultLimits: defaultLimits(config) }, account),
  }))
}
