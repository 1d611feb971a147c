import { expect, test } from 'vitest'
import { CHANNELS, channelBody } from './payment-channel-settings.ts'

test('secrets that are left empty are not sent, so that they keep their value', () => {
  const values = { mchid: ' 1900 ', appid: 'wx1', serial: 'PUB_KEY_ID_1', public_key: 'PEM', api_v3_key: '' }
  expect(channelBody('wechat', values)).toEqual({
    mchid: '1900',
    appid: 'wx1',
    serial: 'PUB_KEY_ID_1',
    public_key: 'PEM',
  })
})

test('fields of other channels are not sent', () => {
  expect(channelBody('alipay', { app_id: '1', mchid: '2' })).toEqual({ app_id: '1' })
})

test('every channel names its fields once', () => {
  for (const fields of Object.values(CHANNELS)) {
    const names = fields.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  }
})
