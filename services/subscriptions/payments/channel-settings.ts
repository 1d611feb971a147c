/** Settings of payment channels: public ones are shown, secret ones only as "set". */

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { validate } from '../../platform/json/bounded-validation.ts'
import { findTargetError } from '../../platform/network/guarded-fetch.ts'
import { ProblemError } from '../../platform/problems.ts'
import { SecretError } from '../../platform/security/secrets.ts'
import { reason } from '../../platform/sentences/issue-reason.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { fieldError, fieldErrorsOf } from '../rules/field-errors.ts'
import { flag, text } from '../rules/field-schemas.ts'
import type { ChannelDoc } from '../store/models.ts'
import { findChannel, saveChannel } from './store/channels.ts'

/** The name of a payment channel. */
export type ChannelName = ChannelDoc['channel']

const pem = (check: (value: string) => unknown) =>
  text(1, 10_000).refine(value => {
    try {
      check(value)
      return true
    } catch {
      return false
    }
  }, reason('field.pem'))

const SETTINGS = {
  alipay: z.object({ app_id: text(1, 64), seller_id: text(1, 64), alipay_public_key: pem(createPublicKey) }),
  wechat: z.object({
    mchid: text(1, 32),
    appid: text(1, 64),
    /** Serial number of the key that signs the notices: platform certificate or `PUB_KEY_ID_…`. */
    serial: text(1, 128),
    public_key: pem(createPublicKey),
  }),
  huawei: z.object({
    application_id: text(1, 64),
    issuer_id: text(1, 64),
    key_id: text(1, 64),
    /** Root that the signatures must lead to (Huawei CBG Root CA G2). */
    root_certificate: pem(value => new X509Certificate(value)),
    api_url: z.url({ protocol: /^https?$/ }).default('https://iap.cloud.huawei.com'),
    /** 1: sandbox notices are accepted. */
    sandbox: flag.default('0'),
  }),
} as const

const SECRETS = {
  alipay: z.object({}),
  wechat: z.object({
    api_v3_key: z.string().refine(value => Buffer.byteLength(value) === 32, reason('field.wechat_key')),
  }),
  huawei: z.object({ private_key: pem(createPrivateKey) }),
} as const

/** Public settings of a channel, parsed. */
export type Settings<C extends ChannelName> = z.output<(typeof SETTINGS)[C]>
/** Secret settings of a channel, parsed. */
export type ChannelSecrets<C extends ChannelName> = z.output<(typeof SECRETS)[C]>

/**
 * Stores the settings of a channel; absent fields and parallel changes of other fields are kept. Secrets sealed with a
 * lost SESSION_SECRET must be entered again. Throws `validation_failed`.
 */
export async function saveChannelSettings(
  context: Subscriptions,
  actor: Actor,
  { appKey, channel }: { appKey: string; channel: ChannelName },
  { enabled, ...given }: { enabled: '0' | '1' } & Record<string, unknown>,
): Promise<ChannelDoc> {
  const _id = `${appKey}/${channel}`
  return record(context, actor, async session => {
    const before = await findChannel(context.collections, appKey, channel, session)
    const settings = parse(SETTINGS[channel], { ...before?.settings, ...given })
    if (given.api_url !== undefined) assertCallable(context, settings)
    const secrets = parse(SECRETS[channel], { ...(before ? keptSecrets(context, before) : {}), ...given })
    const after: ChannelDoc = {
      _id,
      app_key: appKey,
      channel,
      enabled: enabled === '1',
      settings,
      sealed: context.secrets.seal('app-secret', _id, JSON.stringify(secrets)),
      updated_at: context.clock.now(),
    }
    await saveChannel(context.collections, after, session)
    const shown = ({ settings: open, enabled: on }: ChannelDoc) => ({ ...open, enabled: on })
    return {
      result: after,
      event: {
        action: 'channel.update',
        appKey,
        target: { kind: 'channel', id: channel },
        before: before && shown(before),
        after: shown(after),
      },
    }
  })
}

/** Public and secret settings of an enabled channel; undefined when it is disabled or not configured. */
export async function loadChannel<C extends ChannelName>(
  context: Subscriptions,
  appKey: string,
  channel: C,
): Promise<(Settings<C> & ChannelSecrets<C>) | undefined> {
  const stored = await findChannel(context.collections, appKey, channel)
  if (!stored?.enabled) return undefined
  return { ...stored.settings, ...openSecrets(context, stored) } as Settings<C> & ChannelSecrets<C>
}

function openSecrets(context: Subscriptions, { _id, sealed }: ChannelDoc): Record<string, unknown> {
  return sealed === undefined
    ? {}
    : (JSON.parse(context.secrets.open('app-secret', _id, sealed)) as Record<string, unknown>)
}

/** The secret settings that can be decrypted: none that a lost SESSION_SECRET sealed. */
function keptSecrets(context: Subscriptions, stored: ChannelDoc): Record<string, unknown> {
  try {
    return openSecrets(context, stored)
  } catch (error) {
    if (error instanceof SecretError) return {}
    throw error
  }
}

/** A channel as the API shows it. */
export function viewChannel(context: Subscriptions, stored: ChannelDoc) {
  return {
    channel: stored.channel,
    enabled: stored.enabled ? ('1' as const) : ('0' as const),
    settings: stored.settings,
    secrets: Object.fromEntries(Object.keys(keptSecrets(context, stored)).map(name => [name, true])),
    notify_path: `/notify/${stored.channel}/${stored.app_key}`,
    updated_at: context.zone.format(stored.updated_at),
  }
}

/** The service calls this address with a token of the app: like webhooks, only over TLS and to public addresses. */
function assertCallable({ config }: Subscriptions, { api_url }: Record<string, string>): void {
  const wrong = api_url && findTargetError(api_url, { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE })
  if (wrong) throw new ProblemError('validation_failed', undefined, { errors: [fieldError('api_url', wrong)] })
}

function parse<S extends z.ZodType<Record<string, string>>>(schema: S, value: unknown): Record<string, string> {
  const result = validate(schema, value)
  if (result.ok) return result.data
  throw new ProblemError('validation_failed', undefined, { errors: fieldErrorsOf(result.issues) })
}
