/** Settings of payment channels: public ones are shown, secret ones only as "set". */
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { targetFault } from '../../platform/network/guarded-fetch.ts'
import { ProblemError } from '../../platform/problems.ts'
import { SecretError } from '../../platform/security/secrets.ts'
import { record } from '../audit/record-change.ts'
import { findChannel, saveChannel } from '../catalogue/store/apps.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { fault, faultsOf } from '../rules/field-errors.ts'
import { flag, text } from '../rules/field-schemas.ts'
import type { ChannelDoc } from '../store/documents.ts'

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
  }, 'format')

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
    /** 1: notices of the sandbox count as well. */
    sandbox: flag.default('0'),
  }),
} as const

const SECRETS = {
  alipay: z.object({}),
  wechat: z.object({ api_v3_key: z.string().refine(value => Buffer.byteLength(value) === 32, 'format') }),
  huawei: z.object({ private_key: pem(createPrivateKey) }),
} as const

/** Public settings of a channel, parsed. */
export type Settings<C extends ChannelName> = z.output<(typeof SETTINGS)[C]>
/** Secret settings of a channel, parsed. */
export type ChannelSecrets<C extends ChannelName> = z.output<(typeof SECRETS)[C]>

/**
 * Stores the settings of a channel; fields that are absent keep their value, and changes of others in the same moment
 * stay. Secrets that a lost SESSION_SECRET sealed must be given again. Throws `validation_failed`.
 */
export async function saveChannelSettings(
  s: Subscriptions,
  actor: Actor,
  { appKey, channel }: { appKey: string; channel: ChannelName },
  { enabled, ...given }: { enabled: '0' | '1' } & Record<string, unknown>,
): Promise<ChannelDoc> {
  const _id = `${appKey}/${channel}`
  return record(s, actor, async session => {
    const before = await findChannel(s.c, appKey, channel, session)
    const settings = parse(SETTINGS[channel], { ...before?.settings, ...given })
    if (given.api_url !== undefined) assertCallable(s, settings)
    const secrets = parse(SECRETS[channel], { ...(before ? keptSecrets(s, before) : {}), ...given })
    const after: ChannelDoc = {
      _id,
      app_key: appKey,
      channel,
      enabled: enabled === '1',
      settings,
      sealed: s.secrets.seal('app-secret', _id, JSON.stringify(secrets)),
      updated_at: s.clock.now(),
    }
    await saveChannel(s.c, after, session)
    const shown = ({ settings: open, enabled: on }: ChannelDoc) => ({ ...open, enabled: on })
    return {
      result: after,
      deed: {
        action: 'channel.update',
        appKey,
        target: { kind: 'channel', id: channel },
        before: before && shown(before),
        after: shown(after),
      },
    }
  })
}

/** Public and secret settings of an enabled channel; undefined when it is off or not set up. */
export async function loadChannel<C extends ChannelName>(
  s: Subscriptions,
  appKey: string,
  channel: C,
): Promise<(Settings<C> & ChannelSecrets<C>) | undefined> {
  const stored = await findChannel(s.c, appKey, channel)
  if (!stored?.enabled) return undefined
  return { ...stored.settings, ...openSecrets(s, stored) } as Settings<C> & ChannelSecrets<C>
}

function openSecrets(s: Subscriptions, { _id, sealed }: ChannelDoc): Record<string, unknown> {
  return sealed === undefined ? {} : (JSON.parse(s.secrets.open('app-secret', _id, sealed)) as Record<string, unknown>)
}

/** The secret settings as far as they can be opened: none that a lost SESSION_SECRET sealed. */
function keptSecrets(s: Subscriptions, stored: ChannelDoc): Record<string, unknown> {
  try {
    return openSecrets(s, stored)
  } catch (error) {
    if (error instanceof SecretError) return {}
    throw error
  }
}

/** A channel as the API shows it. */
export function viewChannel(s: Subscriptions, stored: ChannelDoc) {
  return {
    channel: stored.channel,
    enabled: stored.enabled ? ('1' as const) : ('0' as const),
    settings: stored.settings,
    secrets: Object.fromEntries(Object.keys(keptSecrets(s, stored)).map(name => [name, true])),
    notify_path: `/notify/${stored.channel}/${stored.app_key}`,
    updated_at: s.zone.format(stored.updated_at),
  }
}

/** The service calls this address with a token of the app: as with webhooks, only over TLS into the public internet. */
function assertCallable({ config }: Subscriptions, { api_url }: Record<string, string>): void {
  const wrong = api_url && targetFault(api_url, { allowPrivate: config.WEBHOOK_ALLOW_PRIVATE })
  if (wrong) throw new ProblemError('validation_failed', undefined, { faults: [fault('api_url', wrong)] })
}

function parse<S extends z.ZodType<Record<string, string>>>(schema: S, value: unknown): Record<string, string> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ProblemError('validation_failed', undefined, { faults: faultsOf(result.error, value) })
}
