/** The settings of each payment channel, by the names that the service and the channels' own documents use. */

/** A field of a channel. */
export interface ChannelField {
  name: string
  /** Never shown again; left empty it keeps its value. */
  secret?: true
  /** A PEM text. */
  long?: true
  /** On or off. */
  flag?: true
}

/** The fields by channel. */
export const CHANNELS = {
  alipay: [{ name: 'app_id' }, { name: 'seller_id' }, { name: 'alipay_public_key', long: true }],
  wechat: [
    { name: 'mchid' },
    { name: 'appid' },
    { name: 'serial' },
    { name: 'public_key', long: true },
    { name: 'api_v3_key', secret: true },
  ],
  huawei: [
    { name: 'application_id' },
    { name: 'issuer_id' },
    { name: 'key_id' },
    { name: 'root_certificate', long: true },
    { name: 'private_key', secret: true, long: true },
    { name: 'api_url' },
    { name: 'sandbox', flag: true },
  ],
} as const satisfies Record<string, readonly ChannelField[]>

/** A channel. */
export type ChannelName = keyof typeof CHANNELS

/** What goes to the service: the fields of the channel that are filled in. */
export function channelBody(channel: ChannelName, values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    CHANNELS[channel].map(({ name }) => [name, values[name]?.trim() ?? '']).filter(([, value]) => value !== ''),
  )
}
