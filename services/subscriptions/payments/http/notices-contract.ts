/** Where payment channels deliver their notices, as the document of the API shows it; each has a protocol of its own. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import type { ChannelName } from '../channel-settings.ts'

const text = { type: 'string' }
const object = { type: 'object' }

const notice = (channel: ChannelName, operationId: string, given: object, answer: object) =>
  endpoint({
    tag: 'Service',
    method: 'POST',
    path: `/notify/${channel}/{app_key}`,
    operationId,
    summary: `Takes a payment notice signed by ${channel}; it is stored, answered and then applied.`,
    access: { kind: 'open' } as const,
    params: z.object({ app_key: z.string().min(1) }),
    ...given,
    ...answer,
  })

/** One for each channel. */
export const noticeOperations = [
  notice(
    'alipay',
    'notifyAlipay',
    { requestContent: { 'application/x-www-form-urlencoded': object } },
    { responseContent: { 'text/plain': { const: 'success' } } },
  ),
  notice('wechat', 'notifyWechat', { requestContent: { 'application/json': object } }, { status: 204 }),
  notice('huawei', 'notifyHuawei', { requestContent: { 'application/json': object } }, {}),
]

const refusal = (name: string, mediaType: string, schema: object) => ({
  description: 'The notice was not taken; the channel sends it again.',
  ...{ mediaType, name, schema: { ...schema } },
})

/** How each of the operations refuses. */
export const noticeRefusals = {
  notifyAlipay: refusal('AlipayError', 'text/plain', { const: 'failure' }),
  notifyWechat: refusal('WechatError', 'application/json', {
    type: 'object',
    properties: { code: text, message: text },
    required: ['code', 'message'],
  }),
  notifyHuawei: refusal('HuaweiError', 'text/plain', text),
}
