import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError, describeSettings, readConfig } from './config.ts'

const NEEDED = { MAIL_HOSTNAME: 'mail.example.com', SESSION_SECRET: 'a-secret-for-tests-of-at-least-32-bytes' }
const read = (env: Readonly<Record<string, string | undefined>> = {}) => readConfig({ ...NEEDED, ...env })
/** The errors of an environment; none when it is taken. */
function configErrorsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  try {
    read(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.errors
    throw error
  }
}
const settings = describeSettings()

describe('defaults', () => {
  test('are those of the documentation: explicit values change nothing', () => {
    const written = settings.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]]))
    expect(written.length).toBeGreaterThan(30)
    expect(read(Object.fromEntries(written))).toEqual(read())
  })

  test.each(['', ' ', '\t\n'])('apply to settings that are %j, as a compose file leaves them', nothing => {
    const empty = Object.fromEntries(settings.map(({ name }) => [name, nothing]))
    expect(read({ ...empty, ...NEEDED })).toEqual(read())
  })

  test('hold beside settings of earlier releases, which are ignored whatever their value is', () => {
    expect(read({ BOUNCE_DOMAIN: 'bounces.example.com', INBOUND_LISTEN: 'not an address' })).toEqual(read())
  })

  test('leave nothing but two settings to be made', () => {
    expect(() => readConfig({})).toThrow(ConfigError)
    expect(configErrorsOf({ MAIL_HOSTNAME: undefined, SESSION_SECRET: undefined })).toEqual([
      'MAIL_HOSTNAME is missing',
      'SESSION_SECRET is missing',
    ])
  })

  test('are described, each with a meaning that is a sentence', () => {
    for (const { name, meaning } of settings) expect(meaning, name).toMatch(/^[A-Z`\d].*\.$/)
  })
})

test.each([
  ['192.0.2.7,2001:db8::7', ['192.0.2.7', '2001:db8::7']],
  ['2001:DB8::7', ['2001:db8::7']],
  ['2001:0db8:0:0:0:0:0:7', ['2001:db8::7']],
  ['::ffff:192.0.2.7', ['192.0.2.7']],
  ['192.0.2.7 192.0.2.7 2001:db8::7, 2001:DB8:0::7', ['192.0.2.7', '2001:db8::7']],
])('the sending addresses %s are compared with DNS in one form, each once', (SENDING_IP, addresses) =>
  expect(read({ SENDING_IP }).SENDING_IP).toEqual(addresses),
)

test.each<[string, Record<string, string>, object]>([
  [
    'lists by commas, blanks and lines',
    { DNS_SERVERS: ' 1.1.1.1, 9.9.9.9\n8.8.8.8 ' },
    { DNS_SERVERS: ['1.1.1.1', '9.9.9.9', '8.8.8.8'] },
  ],
  ['names in lower case', { MAIL_HOSTNAME: ' Mail.Example.COM ' }, { MAIL_HOSTNAME: 'mail.example.com' }],
  [
    'addresses without their last slashes',
    { APP_BASE_URL: 'https://example.com/mail//' },
    { APP_BASE_URL: 'https://example.com/mail' },
  ],
  ['flags as words', { SEND_REQUIRES_VERIFIED: 'false' }, { SEND_REQUIRES_VERIFIED: false }],
  ['flags as digits', { DNS_ALLOW_PRIVATE: '1' }, { DNS_ALLOW_PRIVATE: true }],
  ['numbers', { SLOTS: '4096', APP_PORT: '0' }, { SLOTS: 4096, APP_PORT: 0 }],
  ['fractions where they make sense', { SEND_REQUESTS_PER_SECOND: '0.5' }, { SEND_REQUESTS_PER_SECOND: 0.5 }],
  ['the success code as a number', { SUCCESS_CODE: '200' }, { SUCCESS_CODE: 200 }],
  ['no blocklist at all', { BLOCKLISTS: 'NONE' }, { BLOCKLISTS: [] }],
  [
    'networks of both families',
    { TRUSTED_PROXIES: '10.0.0.0/8,2001:db8::/32,192.0.2.1' },
    { TRUSTED_PROXIES: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'] },
  ],
  [
    'the word for all private networks',
    { TRUSTED_PROXIES: '203.0.113.0/24 Private' },
    { TRUSTED_PROXIES: ['203.0.113.0/24', 'private'] },
  ],
])('reads %s', (_, env, expected) => expect(read(env)).toMatchObject(expected))

test.each<[string, object[]]>([
  ['2525:starttls', [{ host: undefined, port: 2525, mode: 'starttls' }]],
  ['2465:TLS', [{ host: undefined, port: 2465, mode: 'tls' }]],
  ['127.0.0.1:0:starttls', [{ host: '127.0.0.1', port: 0, mode: 'starttls' }]],
  ['[::1]:25:tls', [{ host: '::1', port: 25, mode: 'tls' }]],
  [
    'mail.example.com:25:tls 65535:starttls',
    [
      { host: 'mail.example.com', port: 25, mode: 'tls' },
      { host: undefined, port: 65_535, mode: 'starttls' },
    ],
  ],
])('listens at %s', (value, expected) => expect(read({ SUBMISSION_LISTEN: value }).SUBMISSION_LISTEN).toEqual(expected))

test.each([
  ['SUBMISSION_LISTEN', '65536:starttls'],
  ['SUBMISSION_LISTEN', '25'],
  ['SUBMISSION_LISTEN', '::1:25:tls'],
  ['SUBMISSION_LISTEN', ':25:tls'],
  ['APP_PORT', '65536'],
  ['APP_PORT', '-1'],
  ['APP_PORT', '80.5'],
  ['DELIVERY_PORT', '0'],
  ['SLOTS', '0'],
  ['SLOTS', '4097'],
  ['MAX_MESSAGE_BYTES', '1023'],
  ['RETENTION_LOG_DAYS', '0'],
  ['EXPIRING_SOON_DAYS', '31'],
  ['SEND_REQUIRES_VERIFIED', 'yes'],
  ['APP_BASE_URL', 'mail.example.com'],
  ['APP_BASE_URL', 'ftp://mail.example.com'],
  ['RELAY_URL', 'https://relay.example.com'],
  ['BUSINESS_TZ', 'Shanghai'],
  ['SENDING_IP', '010.0.0.1'],
  ['SENDING_IP', '192.0.2.0/24'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['TRUSTED_PROXIES', 'public'],
  ['MAIL_HOSTNAME', 'mail_host.example.com'],
  ['MAIL_HOSTNAME', '-mail.example.com'],
  ['MAIL_HOSTNAME', 'mail.example.com.'],
  ['MAIL_HOSTNAME', `${'a'.repeat(250)}.com`],
  ['SESSION_SECRET', 'x'.repeat(31)],
  ['SESSION_SECRET_PREVIOUS', 'x'.repeat(31)],
  ['API_TOKEN', 'x'.repeat(31)],
  ['API_TOKEN', `${'x'.repeat(31)} `],
  ['SUCCESS_CODE', '201'],
  ['LOG_LEVEL', 'loud'],
])('refuses %s=%s, and nothing else', (name, value) => {
  const errors = configErrorsOf({ [name]: value })
  expect(errors).toHaveLength(1)
  expect(errors[0]).toMatch(new RegExp(`^${name}: `))
})

test('a secret counts by its bytes, and blanks around it do not count', () => {
  expect(configErrorsOf({ SESSION_SECRET: '密'.repeat(11) })).toEqual([])
  expect(configErrorsOf({ SESSION_SECRET: `${'x'.repeat(31)} ` })).toHaveLength(1)
})

test.each<[string, Record<string, string>, string[]]>([
  ['a relay without its address', { DELIVERY_MODE: 'relay' }, ['RELAY_URL: is needed with DELIVERY_MODE=relay']],
  ['a relay with it', { DELIVERY_MODE: 'relay', RELAY_URL: 'smtps://u:p@relay.example.com:465' }, []],
  ['a certificate and its key', { SUBMISSION_TLS_CERT: '/tls.crt', SUBMISSION_TLS_KEY: '/tls.key' }, []],
])('%s', (_, env, errors) => expect(configErrorsOf(env)).toEqual(errors))

test('a message never repeats a secret, however wrong it is', () => {
  const secret = fc.stringMatching(/^[a-z]{8,31}$/)
  fc.assert(
    fc.property(secret, value => {
      const errors = configErrorsOf({ SESSION_SECRET: value, SESSION_SECRET_PREVIOUS: value, RELAY_URL: value }).join(
        '\n',
      )
      expect(errors.split('\n')).toHaveLength(3)
      expect(errors).not.toContain(value)
    }),
  )
})
