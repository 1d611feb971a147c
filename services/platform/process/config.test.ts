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
    expect(read({ FORMER_LISTEN: 'not an address' })).toEqual(read())
  })

  test('leave nothing but two settings to be made', () => {
    expect(() => readConfig({})).toThrow(ConfigError)
    expect(configErrorsOf({ MAIL_HOSTNAME: undefined, SESSION_SECRET: undefined })).toEqual([
      'MAIL_HOSTNAME: is required',
      'SESSION_SECRET: is required',
    ])
  })

  test('are described, each with a meaning that is a sentence', () => {
    for (const { name, meaning } of settings) expect(meaning, name).toMatch(/^[A-Z`\d].*\.$/)
  })
})

test.each([
  ['bounces.example.com', 'bounces.example.com'],
  [' Bounces.Example.COM ', 'bounces.example.com'],
])('BOUNCE_DOMAIN %j is read', (given, expected) => expect(read({ BOUNCE_DOMAIN: given }).BOUNCE_DOMAIN).toBe(expected))

test.each(['localhost', 'bounces_.example.com', 'a@bounces.example.com', `${'a.'.repeat(95)}com`, '-a.example.com'])(
  'BOUNCE_DOMAIN %j is refused',
  given =>
    expect(configErrorsOf({ BOUNCE_DOMAIN: given })).toEqual([
      'BOUNCE_DOMAIN: must be a host name like mail.example.com',
    ]),
)

describe('a login provider', () => {
  const OIDC = { OIDC_ISSUER: 'https://id.example.com/', OIDC_CLIENT_ID: 'postwright' }

  test.each([
    'https://id.example.com/',
    'https://id.example.com/realms/main',
    'http://localhost:8080/realms/main',
    'http://127.0.0.1:8080',
    'http://[::1]:8080/',
  ])('at %s keeps its name as it is', issuer => expect(read({ ...OIDC, OIDC_ISSUER: issuer }).OIDC_ISSUER).toBe(issuer))

  test('takes its other settings', () =>
    expect(
      read({
        ...OIDC,
        PASSWORD_LOGIN: 'false',
        OIDC_SCOPES: 'openid groups',
        OIDC_ROLE_CLAIM: 'groups',
        OIDC_ADMIN_VALUES: 'mail-admins, root',
      }),
    ).toMatchObject({
      PASSWORD_LOGIN: false,
      OIDC_SCOPES: ['openid', 'groups'],
      OIDC_ADMIN_VALUES: ['mail-admins', 'root'],
      OIDC_CREATE_ACCOUNTS: false,
    }))

  const ISSUER = 'must be an https address; http only for a host of this machine'
  test.each<[Record<string, string>, string[]]>([
    [{ OIDC_ISSUER: 'http://id.example.com' }, [`OIDC_ISSUER: ${ISSUER}`]],
    [{ OIDC_ISSUER: 'http://10.0.0.1' }, [`OIDC_ISSUER: ${ISSUER}`]],
    [{ OIDC_CLIENT_ID: '' }, ['OIDC_CLIENT_ID: is required with OIDC_ISSUER']],
    [
      { OIDC_CLIENT_SECRET: 'a', OIDC_CLIENT_SECRET_FILE: '/b' },
      ['OIDC_CLIENT_SECRET: excludes OIDC_CLIENT_SECRET_FILE; set one of them'],
    ],
    [{ OIDC_ROLE_CLAIM: 'groups' }, ['OIDC_ADMIN_VALUES: is required with OIDC_ROLE_CLAIM']],
    [{ OIDC_ADMIN_VALUES: 'root' }, ['OIDC_ROLE_CLAIM: is required with OIDC_ADMIN_VALUES']],
    [{ OIDC_ISSUER: '', PASSWORD_LOGIN: 'false' }, ['OIDC_ISSUER: is required with PASSWORD_LOGIN=false']],
  ])('with %j is refused', (change, errors) => expect(configErrorsOf({ ...OIDC, ...change })).toEqual(errors))
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

const LISTENER = 'is not [host:]port:mode with mode starttls or tls, as in 2525:starttls'
const URL_FORM = 'must be a URL like https://example.com/path'
const ADDRESSES = 'must be IPv4 or IPv6 addresses, separated by commas'
const PROXIES = 'must be networks like 10.0.0.0/8, separated by commas, or the word private'
const HOST_NAME = 'must be a host name like mail.example.com'
const SECRET = 'must have at least 32 bytes; `openssl rand -base64 48` makes a good one'
const TOKEN = 'must have at least 32 characters; `openssl rand -hex 32` makes a good one, and an empty value means none'

test.each([
  ['SUBMISSION_LISTEN', '65536:starttls', `"65536:starttls" ${LISTENER}`],
  ['SUBMISSION_LISTEN', '25', `"25" ${LISTENER}`],
  ['SUBMISSION_LISTEN', '::1:25:tls', `"::1:25:tls" ${LISTENER}`],
  ['SUBMISSION_LISTEN', ':25:tls', `":25:tls" ${LISTENER}`],
  ['APP_PORT', '65536', 'must be at most 65535'],
  ['APP_PORT', '-1', 'must be at least 0'],
  ['APP_PORT', '80.5', 'must be an integer'],
  ['APP_PORT', 'http', 'must be a number'],
  ['DELIVERY_PORT', '0', 'must be at least 1'],
  ['SLOTS', '0', 'must be at least 1'],
  ['SLOTS', '4097', 'must be at most 4096'],
  ['MAX_MESSAGE_BYTES', '1023', 'must be at least 1024'],
  ['RETENTION_LOG_DAYS', '0', 'must be at least 1'],
  ['EXPIRING_SOON_DAYS', '31', 'must be at most 30'],
  ['SEND_REQUESTS_PER_SECOND', 'fast', 'must be a number'],
  ['SEND_REQUIRES_VERIFIED', 'yes', 'must be true or false'],
  ['DELIVERY_MODE', 'pigeon', 'must be one of: direct, relay, capture'],
  ['APP_BASE_URL', 'mail.example.com', URL_FORM],
  ['APP_BASE_URL', 'ftp://mail.example.com', URL_FORM],
  ['CLOUDFLARE_API_URL', 'cloudflare', URL_FORM],
  [
    'RELAY_URL',
    'https://relay.example.com',
    'must be a URL like smtp://user:password@relay.example.com:587 or smtps://relay.example.com',
  ],
  ['BUSINESS_TZ', 'Shanghai', 'must be an IANA time zone like Asia/Shanghai'],
  ['SENDING_IP', '010.0.0.1', ADDRESSES],
  ['SENDING_IP', '192.0.2.0/24', ADDRESSES],
  ['TRUSTED_PROXIES', '10.0.0.0/33', PROXIES],
  ['TRUSTED_PROXIES', 'public', PROXIES],
  ['SUBMISSION_PROXY_FROM', 'private', 'must be networks like 10.0.0.0/8, separated by commas'],
  ['MAIL_HOSTNAME', 'mail_host.example.com', HOST_NAME],
  ['MAIL_HOSTNAME', '-mail.example.com', HOST_NAME],
  ['MAIL_HOSTNAME', 'mail.example.com.', HOST_NAME],
  ['MAIL_HOSTNAME', `${'a'.repeat(250)}.com`, HOST_NAME],
  ['MAIL_HOSTNAME', ' ', 'is required'],
  ['SESSION_SECRET', 'x'.repeat(31), SECRET],
  ['SESSION_SECRET_PREVIOUS', 'x'.repeat(31), SECRET],
  ['API_TOKEN', 'x'.repeat(31), TOKEN],
  ['API_TOKEN', `${'x'.repeat(31)} `, TOKEN],
  ['SUCCESS_CODE', '201', 'must be one of: 0, 200'],
  ['LOG_LEVEL', 'loud', 'must be one of: trace, debug, info, warn, error, fatal, silent'],
  ['ADMIN_PASSWORD', 'change-me-admin-password', 'still has the value of the template (.env.example); choose your own'],
])('refuses %s=%s and says what is expected', (name, value, reason) => {
  expect(configErrorsOf({ [name]: value })).toEqual([`${name}: ${reason}`])
})

test('reports an error of each setting, in the order of the documentation', () => {
  const wrong = { LOG_LEVEL: 'loud', SUBMISSION_LISTEN: '25 2525:starttls 26', SLOTS: 'many' }
  expect(configErrorsOf(wrong)).toEqual([
    `SUBMISSION_LISTEN: "25" ${LISTENER}`,
    `SUBMISSION_LISTEN: "26" ${LISTENER}`,
    'SLOTS: must be a number',
    'LOG_LEVEL: must be one of: trace, debug, info, warn, error, fatal, silent',
  ])
})

test('a secret counts by its bytes, and blanks around it do not count', () => {
  expect(configErrorsOf({ SESSION_SECRET: '密'.repeat(11) })).toEqual([])
  expect(configErrorsOf({ SESSION_SECRET: `${'x'.repeat(31)} ` })).toHaveLength(1)
})

test.each<[string, Record<string, string>, string[]]>([
  ['a relay without its address', { DELIVERY_MODE: 'relay' }, ['RELAY_URL: is required with DELIVERY_MODE=relay']],
  ['a relay with it', { DELIVERY_MODE: 'relay', RELAY_URL: 'smtps://u:p@relay.example.com:465' }, []],
  [
    'a certificate without its key',
    { SUBMISSION_TLS_CERT: '/tls.crt' },
    ['SUBMISSION_TLS_KEY: is required with SUBMISSION_TLS_CERT'],
  ],
  [
    'a key without its certificate',
    { SUBMISSION_TLS_KEY: '/tls.key' },
    ['SUBMISSION_TLS_CERT: is required with SUBMISSION_TLS_KEY'],
  ],
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
