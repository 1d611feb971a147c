/** Operations on the payment channels of an app. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { SUPER } from '../../http/shared/access.ts'
import { params } from '../../http/shared/contract-fields.ts'
import { flag } from '../../rules/field-schemas.ts'
import { channelRecord } from './channel-schemas.ts'

/** Lists payment channels. */
export const listChannelsOperation = endpoint({
  operationId: 'listPaymentChannels',
  tag: 'App settings',
  method: 'GET',
  path: '/app_manage/{id}/channel',
  summary: 'Payment channels of an app; of secrets only whether they are set.',
  access: SUPER,
  params,
  response: z.object({
    channels: z.array(channelRecord),
    /** Address of this API for channels (ADMIN_BASE_URL); empty when it is not set. */
    notify_base_url: z.string(),
  }),
})
/** Sets a payment channel. */
export const putChannel = endpoint({
  operationId: 'setPaymentChannel',
  tag: 'App settings',
  method: 'PUT',
  path: '/app_manage/{id}/channel/{channel}',
  summary: 'Sets a payment channel; secret fields that are absent keep their value.',
  access: SUPER,
  example: {
    body: {
      enabled: '1',
      app_id: '2021000000000001',
      seller_id: '2088000000000001',
      alipay_public_key: 'PUBLIC KEY OF ALIPAY',
    },
  },
  params: params.extend({ channel: z.enum(['alipay', 'wechat', 'huawei']) }),
  body: z.object({ enabled: flag.default('1') }).catchall(z.unknown()),
  response: channelRecord,
})
