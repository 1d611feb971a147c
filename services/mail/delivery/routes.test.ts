import { describe, expect, test } from 'vitest'
import { verbatim } from '../../platform/sentences/compose.ts'
import { captureRoute, directRoutes, type FoundRoute, fixedRoute } from './routes.ts'
import type { StsPolicy } from './rules/tls-requirement.ts'
import { NO_POLICY, type ReportedPolicy } from './rules/tls-results.ts'
import type { MxAnswer } from './smtp/mx.ts'

const enforce: StsPolicy = { mode: 'enforce', mx: ['*.example.net'] }

/** Routes by DNS and the policy of each domain; `asked` are the domains that were looked up. */
function ways(
  answers: Readonly<Record<string, MxAnswer>>,
  policies: Readonly<Record<string, StsPolicy>> = {},
  reported: Readonly<Record<string, ReportedPolicy>> = {},
) {
  const asked: string[] = []
  const routes = directRoutes({
    mx: {
      hostsOf: async domain => {
        asked.push(domain)
        return answers[domain] ?? { kind: 'temporary', reason: verbatim(`no server answers for ${domain}`) }
      },
      addressesOf: async () => ({ kind: 'temporary', reason: verbatim('not asked here') }),
    },
    tlsPolicy: {
      policyOf: async domain => policies[domain],
      reportedOf: async domain => reported[domain] ?? NO_POLICY,
      modeOf: () => 'opportunistic',
      rememberClear: () => {},
      clearCauseOf: () => undefined,
    },
  })
  return { asked, routes }
}
const hosts = (...names: string[]): MxAnswer => ({ kind: 'hosts', hosts: names })
const routeOf = (found: FoundRoute) => {
  if (found.kind !== 'route') throw new Error(`no way: ${found.failure.text}`)
  return found
}

describe('by MX', () => {
  test.each<[string, rcpt: string, domain: string, mx: string[], site: string]>([
    ['a domain of its own', 'ann@example.com', 'example.com', ['mx.example.com'], 'example.com'],
    ['a domain in capitals', 'Ann@EXAMPLE.com', 'example.com', ['mx.example.com'], 'example.com'],
    ['an address with two at signs', '"a@b"@example.com', 'example.com', ['mx.example.com'], 'example.com'],
    ['a domain of a provider', 'ann@gmail.com', 'gmail.com', ['gmail-smtp-in.l.google.com'], 'google'],
    ['the same elsewhere', 'ann@GMail.com', 'gmail.com', ['mx.elsewhere.example'], 'google'],
    [
      'a domain at a provider',
      'x@example.com',
      'example.com',
      ['aspmx.l.google.com', 'alt1.aspmx.l.google.com'],
      'google',
    ],
    ['one at two providers', 'x@example.com', 'example.com', ['aspmx.l.google.com', 'mx.yandex.net'], 'example.com'],
    ['one half at home', 'x@example.com', 'example.com', ['aspmx.l.google.com', 'mx.example.com'], 'example.com'],
    ['one that looks like a provider', 'x@example.com', 'example.com', ['mx.notgoogle.com'], 'example.com'],
  ])('%s goes to its site', async (_, rcpt, domain, mx, site) => {
    const { asked, routes } = ways({ [domain]: hosts(...mx) })
    const found = routeOf(await routes(rcpt))
    expect(found.site).toBe(site)
    expect(found.route.hosts).toEqual(mx)
    expect(asked).toEqual([domain])
  })

  test('domains on the same hosts share connections, in whatever order DNS names them', async () => {
    const { routes } = ways({
      'a.example': hosts('mx1.example', 'mx2.example'),
      'b.example': hosts('mx2.example', 'mx1.example'),
      'c.example': hosts('mx1.example'),
    })
    const found = await Promise.all(['a', 'b', 'c'].map(async name => routeOf(await routes(`x@${name}.example`))))
    const [a, b, c] = found.map(({ route }) => route)
    expect(a?.key).toBe(b?.key)
    expect(a?.key).not.toBe(c?.key)
    expect([a?.hosts[0], b?.hosts[0]]).toEqual(['mx1.example', 'mx2.example'])
  })

  test('a domain with a policy shares none: they may have been opened under another one', async () => {
    const shared = hosts('mx.example.net')
    const { routes } = ways(
      { 'a.example': shared, 'b.example': shared, 'c.example': shared },
      { 'a.example': enforce, 'b.example': enforce },
    )
    const found = await Promise.all(['a', 'b', 'c'].map(async name => routeOf(await routes(`x@${name}.example`))))
    expect(new Set(found.map(({ route }) => route.key)).size).toBe(3)
    expect(found.map(({ route }) => route.policy)).toEqual([enforce, enforce, undefined])
  })

  test('a domain whose policy cannot be used shares none: its failures are its own', async () => {
    const shared = hosts('mx.example.net')
    const { routes } = ways(
      { 'a.example': shared, 'b.example': shared },
      {},
      { 'a.example': { ...NO_POLICY, failure: 'sts-policy-invalid' } },
    )
    const found = await Promise.all(['a', 'b'].map(async name => routeOf(await routes(`x@${name}.example`))))
    expect(found[0]?.route.key).not.toBe(found[1]?.route.key)
    expect(found.map(({ route }) => route.reported?.failure)).toEqual(['sts-policy-invalid', undefined])
  })

  test('a TLS report goes out without a policy and is not counted', async () => {
    const { routes } = ways({ 'a.example': hosts('mx.example.net') }, { 'a.example': enforce })
    expect(routeOf(await routes('x@a.example', { tlsReport: true })).route).toEqual({
      key: 'mx.example.net',
      hosts: ['mx.example.net'],
    })
  })

  test('a domain that accepts no mail is refused, one without a DNS answer is tried later', async () => {
    const reason = verbatim('It takes no mail.')
    const { routes } = ways({ 'null.example': { kind: 'permanent', enhanced: '5.1.10', reason } })
    expect(await routes('x@null.example')).toEqual({
      kind: 'failed',
      failure: { classification: { outcome: 'bounced', kind: 'dns' }, code: 550, enhanced: '5.1.10', text: reason },
    })
    expect(await routes('x@away.example')).toEqual({
      kind: 'failed',
      failure: {
        classification: { outcome: 'deferred', kind: 'dns' },
        enhanced: '4.4.3',
        text: verbatim('no server answers for away.example'),
      },
    })
  })
})

test('a relay is one site for all', async () => {
  const routes = fixedRoute('relay', 'smtp.example.net')
  const found = routeOf(await routes('ann@gmail.com'))
  expect(found).toEqual({ kind: 'route', site: 'relay', route: { key: 'relay', hosts: ['smtp.example.net'] } })
  expect(await routes('bob@example.com')).toEqual(found)
})

test.each([
  ['ann@gmail.com', 'google'],
  ['ann@GoogleMail.com', 'google'],
  ['ann@Example.com', 'example.com'],
])('captured mail for %s has the site that it would have outside: %s', async (rcpt, site) => {
  const found = routeOf(await captureRoute(rcpt))
  expect(found).toEqual({
    kind: 'route',
    site,
    route: { key: site, hosts: ['capture.invalid'], capture: 'installation' },
  })
})
