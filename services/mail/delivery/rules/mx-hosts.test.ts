import { describe, expect, test } from 'vitest'
import { planMx, providerOfHosts } from './mx-hosts.ts'

const mx = (priority: number, exchange: string) => ({ priority, exchange })

describe('planMx', () => {
  test.each([
    ['no record', [], { kind: 'implicit' }],
    ['null MX (RFC 7505)', [mx(0, '.')], { kind: 'null_mx' }],
    ['null MX as an empty name', [mx(0, '')], { kind: 'null_mx' }],
    [
      'order of preference',
      [mx(20, 'b.example'), mx(10, 'a.example')],
      { kind: 'hosts', hosts: ['a.example', 'b.example'] },
    ],
    ['names in one form', [mx(10, 'A.Example.')], { kind: 'hosts', hosts: ['a.example'] }],
    ['a host once', [mx(10, 'a.example'), mx(20, 'a.example')], { kind: 'hosts', hosts: ['a.example'] }],
    ['an empty name beside a real one', [mx(0, '.'), mx(10, 'a.example')], { kind: 'hosts', hosts: ['a.example'] }],
  ])('%s', (_, records, plan) => {
    expect(planMx(records, () => 0.5)).toEqual(plan)
  })

  test('equal preferences are ordered by the given numbers, and five hosts are enough', () => {
    const numbers = [0.9, 0.1]
    expect(planMx([mx(10, 'a.example'), mx(10, 'b.example')], () => numbers.shift() ?? 0)).toEqual({
      kind: 'hosts',
      hosts: ['b.example', 'a.example'],
    })
    const many = Array.from({ length: 9 }, (_, i) => mx(i, `h${i}.example`))
    expect(planMx(many, () => 0)).toMatchObject({ hosts: { length: 5 } })
  })
})

test.each([
  [['aspmx.l.google.com', 'alt1.aspmx.l.google.com'], 'google'],
  [['smtp.google.com'], 'google'],
  [['aspmx.l.google.com', 'alt4.aspmx.l.google.com', 'aspmx2.googlemail.com'], 'google'],
  [['alt2.gmail-smtp-in.l.google.com'], 'google'],
  [['acme-com.mail.protection.outlook.com'], 'microsoft'],
  [['acme-com.k-v1.mx.microsoft'], 'microsoft'],
  [['mx-eu.mail.am0.yahoodns.net'], 'yahoo'],
  [['mx01.mail.icloud.com', 'mx02.mail.icloud.com'], 'apple'],
  [['mxbiz1.qq.com', 'mxbiz2.qq.com'], 'tencent'],
  [['qiye163mx01.mxmail.netease.com', 'hzmx01.mxmail.netease.com'], 'netease'],
  [['mx.yandex.net'], 'yandex'],
  [['emx.mail.ru'], 'mailru'],
  // Hosts that receive no mail: a stranger may name them, and they do not answer.
  [['www.google.com'], undefined],
  [['www.qq.com'], undefined],
  [['aspmx.l.google.com', 'www.google.com'], undefined],
  [['aspmx.l.google.com', 'mail.example.com'], undefined],
  [['notgoogle.com'], undefined],
  [[], undefined],
])('%j belong to %s', (hosts, provider) => {
  expect(providerOfHosts(hosts)).toBe(provider)
})
