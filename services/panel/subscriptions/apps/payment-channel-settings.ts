/** Settings of each payment channel, with the names used by the API and the providers' documentation. */

export interface ChannelField {
  name: string
  /** Write-only; an empty value keeps the stored one. */
  secret?: true
  /** Multi-line PEM text. */
  long?: true
  flag?: true
}

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

export type ChannelName = keyof typeof CHANNELS

/** Request body: the non-empty fields of the channel. */
export function channelBody(channel: ChannelName, values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    CHANNELS[channel].map(({ name }) => [name, values[name]?.trim() ?? '']).filter(([, value]) => value !== ''),
  )
}
