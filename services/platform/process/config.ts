/**
 * The only description of every setting: name, default, meaning. Parsed once, by an entry point, and passed on as a
 * value. `docs/configuration.md` is generated from this file.
 */
import { z } from 'zod'
import { canonicalAddress, isAddress, isNetwork, PRIVATE } from '../network/ip-networks.ts'
import { isLoopback } from '../network/public-address.ts'
import { reason, reasonOfIssue } from '../sentences/issue-reason.ts'
import { inEnglish, type Sentence, sentence } from '../sentences/sentence.ts'

const text = z.string().trim()
const list = text.transform(value => value.split(/[\s,]+/).filter(Boolean))
/** Domains are compared in lower case, without the dot of the root. */
const domainList = list.transform(names => names.map(name => name.toLowerCase().replace(/\.$/, '')))
const port = z.coerce.number().int().min(1).max(65_535)
/** 0 lets the system choose: for tests and for several instances on one machine. */
const listenPort = z.coerce.number().int().min(0).max(65_535)
const flag = z
  .enum(['true', 'false', '1', '0'], reason('field.type_boolean'))
  .transform(value => value === 'true' || value === '1')
const url = z.url({ protocol: /^https?$/ }).transform(value => value.replace(/\/+$/, ''))
/** True for a blank setting as well: templates and compose files leave such values. */
export const isUnset = (value: unknown) => value === undefined || (typeof value === 'string' && value.trim() === '')
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess(value => (isUnset(value) ? undefined : value), schema.optional())
const withDefault = <T extends z.ZodType>(schema: T, value: string) =>
  z.preprocess(given => (isUnset(given) ? value : given), schema)

/** For schemas of files that set settings: the characters of addresses and networks; the rest is checked at the start. */
const ADDRESSES = '^[0-9a-fA-F:.,\\s]*$'
const NETWORKS = '^[0-9a-fA-F:./,\\s]*$'
const PROXIES = '^([0-9a-fA-F:./]+|[pP][rR][iI][vV][aA][tT][eE]|[,\\s]+)*$'
const TIME_ZONE = '^\\s*[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*\\s*$'

const addresses = list
  .meta({ pattern: ADDRESSES })
  .refine(values => values.every(isAddress), {
    error: reason('field.addresses'),
    abort: true,
  })
  .transform(values => [...new Set(values.map(canonicalAddress))])
const networks = list.meta({ pattern: NETWORKS }).refine(values => values.every(isNetwork), reason('field.networks'))
const proxies = list
  .meta({ pattern: PROXIES })
  .transform(entries => entries.map(entry => (entry.toLowerCase() === PRIVATE ? PRIVATE : entry)))
  .refine(values => values.every(value => value === PRIVATE || isNetwork(value)), reason('field.networks_or_private'))
const secret = text.refine(value => Buffer.byteLength(value) >= 32, reason('field.secret'))

/** Kept as it is given: the issuer that tokens name must be the same, a slash at its end included. */
const issuer = z.url({ protocol: /^https?$/ }).refine(isProtectedUrl, reason('field.issuer'))

/** A name with at least two labels; MX and CNAME records cannot name a single one. */
const domainName = text.regex(
  /^(?=.{1,190}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/,
  reason('field.host_name'),
)

/** What the SMTP process binds: `[host:]port:mode`. */
export interface ListenAddress {
  host: string | undefined
  port: number
  mode: 'starttls' | 'tls'
}

const listeners = list.transform((entries, context): ListenAddress[] =>
  entries.map(entry => {
    const match = /^(?:(?<host>\[[0-9a-f:.]+\]|[^:]+):)?(?<port>\d{1,5}):(?<mode>starttls|tls)$/i.exec(entry)
    const number = Number(match?.groups?.port)
    if (!match?.groups || number > 65_535) {
      context.addIssue({ code: 'custom', message: reason('field.listener'), params: { entry } })
      return { host: undefined, port: 0, mode: 'starttls' }
    }
    return {
      host: match.groups.host?.replace(/^\[|\]$/g, ''),
      port: number,
      mode: match.groups.mode?.toLowerCase() === 'tls' ? 'tls' : 'starttls',
    }
  }),
)

/** Each setting with its schema; names are those of the environment. */
export const settings = {
  APP_HOST: withDefault(text, '127.0.0.1').describe(
    'Address that the panel, the APIs and the SMTP listeners bind unless an entry names its own.',
  ),
  APP_PORT: withDefault(listenPort, '3025').describe('Port of the panel and the send API.'),
  ADMIN_API_PORT: withDefault(listenPort, '3026').describe('Port of the Subscription Administration API.'),
  COMPAT_PORT: withDefault(listenPort, '3027').describe(
    'Port of the API in the format of Resend, for applications that use its SDKs (docs/compatibility.md).',
  ),
  APP_BASE_URL: withDefault(url, 'http://127.0.0.1:3025').describe('Public address of the panel and the send API.'),
  ADMIN_BASE_URL: optional(url).describe(
    'Public address of the Subscription Administration API; shown in its documents. With it reminders have a link to end them.',
  ),
  CORS_ORIGINS: withDefault(list, '').describe(
    'Origins that browsers may call the Subscription Administration API from, comma separated.',
  ),
  TRUSTED_PROXIES: withDefault(proxies, '').describe(
    'Networks of the reverse proxies in front of the HTTP ports, comma separated: only their X-Forwarded-* headers count. Behind a proxy that is not listed, all clients share its address and so its limits. `private` means all private networks, for ports that nothing but the proxy can reach; of such a proxy the last address in X-Forwarded-For counts. None by default.',
  ),
  MAIL_HOSTNAME: text
    .toLowerCase()
    .regex(/^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, reason('field.host_name'))
    .describe(
      'HELO name and mail host name; the sending host in DNS guidance. `npm start` uses localhost.localdomain.',
    ),
  SENDING_IP: withDefault(addresses, '').describe(
    'Public IPv4 and IPv6 addresses of the sending server, comma separated.',
  ),
  SESSION_SECRET: secret.describe(
    'Random secret of at least 32 bytes; the keys for sessions and encryption are derived from it, so that a change ends all sessions. Made by the first `npm start`.',
  ),
  SESSION_SECRET_PREVIOUS: optional(secret).describe(
    'The secret before the last rotation; sessions that it opened go on, and what it encrypted stays readable and is re-encrypted by a job.',
  ),
  SUBMISSION_HOST: optional(text).describe('Public SMTP host shown to users; default MAIL_HOSTNAME.'),
  SUBMISSION_PORTS: withDefault(list, '25,587,465,2525').describe('Public SMTP ports shown to users.'),
  SUBMISSION_LISTEN: withDefault(listeners, '2525:starttls,2587:starttls,2465:tls').describe(
    'What the SMTP process binds: `[host:]port:mode`, comma separated.',
  ),
  SUBMISSION_PROXY_FROM: withDefault(networks, '').describe(
    'Networks that may speak the PROXY protocol to the SMTP listeners.',
  ),
  SUBMISSION_MAX_CLIENTS: withDefault(z.coerce.number().int().min(1), '2000').describe(
    'Most open connections of one SMTP process.',
  ),
  SUBMISSION_MAX_CLIENTS_PER_ADDRESS: withDefault(z.coerce.number().int().min(1), '200').describe(
    'Most open connections of one client address, or of one IPv6 /64.',
  ),
  SUBMISSION_TLS_CERT: optional(text).describe(
    'Path of the TLS certificate (PEM); read again when the file changes. `npm start` makes a self-signed one.',
  ),
  SUBMISSION_TLS_KEY: optional(text).describe('Path of the TLS key (PEM).'),
  BOUNCE_DOMAIN: optional(text.toLowerCase().pipe(domainName)).describe(
    'Host name that takes reports about deliveries: bounces and complaints. It needs an MX and an address record that lead to the inbound process, and an SPF record. Unset: mail leaves with the envelope sender that was submitted, and no reports are taken.',
  ),
  TRACKING_SCHEME: withDefault(z.enum(['https', 'http']), 'https').describe(
    'Scheme of tracked links, at `links.<domain>` of the sender. https needs a certificate for each such host at the reverse proxy. Domains whose host does not answer so leave untracked.',
  ),
  INBOUND_LISTEN: withDefault(listeners, '2526:starttls').describe(
    'What the inbound process binds for BOUNCE_DOMAIN: `[host:]port:mode`, comma separated.',
  ),
  SYSTEM_MAIL_FROM: optional(text).describe("Sender of the platform's own mail; default postmaster@MAIL_HOSTNAME."),
  TLS_REPORTS: withDefault(flag, 'true').describe(
    'With DELIVERY_MODE=direct: count the TLS results of sessions with receiving servers, and send the domains that ask for it a report of each day (RFC 8460). Reports by mail need a sender in a verified domain, which signs them.',
  ),
  TLS_REPORT_ORGANIZATION: optional(text.max(200)).describe(
    'Organization named in TLS reports; default MAIL_HOSTNAME.',
  ),
  DEFAULT_SPF_MECHANISMS: withDefault(
    text.transform(value => value.split(/[\s,]+/).filter(Boolean)),
    '',
  ).describe('Third-party SPF mechanisms to keep, as in `include:_spf.example.net`.'),
  RECEIVED_SHOWS_CLIENT: withDefault(flag, 'false').describe(
    "The Received header shows recipients the address and the name of who submitted a message; the process's log always does.",
  ),
  SEND_REQUIRES_VERIFIED: withDefault(flag, 'true').describe('An unverified domain cannot send.'),
  API_TOKEN: optional(text.min(32, reason('field.long_token'))).describe(
    'Legacy send token of at least 32 characters; acts for the first admin on POST /api/send and POST /api/v1/emails only.',
  ),
  ADMIN_USERNAME: optional(text).describe('First admin; creates the account when it is missing.'),
  ADMIN_PASSWORD: optional(text).describe('Password of the first admin, used only to create it.'),
  PASSWORD_LOGIN: withDefault(flag, 'true').describe(
    'People log in to the panel with a password. `false` needs OIDC_ISSUER; links for a new password are then refused as well. The Subscription Administration API keeps its login with a password.',
  ),
  OIDC_ISSUER: optional(issuer).describe(
    'Issuer of an OpenID Connect provider that people log in to the panel with, exactly as the provider names it; plain http only for a provider on this machine. The address to register there is APP_BASE_URL/oidc-callback.',
  ),
  OIDC_CLIENT_ID: optional(text).describe('Client id of this installation at the provider.'),
  OIDC_CLIENT_SECRET: optional(text).describe(
    'Client secret at the provider. Without it, and without OIDC_CLIENT_SECRET_FILE, this is a public client, which PKCE alone protects.',
  ),
  OIDC_CLIENT_SECRET_FILE: optional(text).describe(
    'Path of a file with the client secret, in place of OIDC_CLIENT_SECRET; read again every hour.',
  ),
  OIDC_SCOPES: withDefault(list, 'openid,profile,email').describe(
    'Scopes that are requested from the provider, comma separated; `openid` always is.',
  ),
  OIDC_NAME: optional(text.max(64)).describe(
    'Name of the provider on the button of the login page; default the host of OIDC_ISSUER.',
  ),
  OIDC_ROLE_CLAIM: optional(text).describe(
    'Claim with the roles or groups of a person, as in `groups` or `realm_access.roles`; read at every login: who has none of OIDC_ADMIN_VALUES is no admin any more. Unset: roles are those of Postwright.',
  ),
  OIDC_ADMIN_VALUES: withDefault(list, '').describe('Values of OIDC_ROLE_CLAIM that make an admin, comma separated.'),
  OIDC_CREATE_ACCOUNTS: withDefault(flag, 'false').describe(
    'People of the provider who have no account get one at their first login. Otherwise only accounts with a confirmed address that the provider has verified as well are linked.',
  ),
  SMTP_USERNAME: optional(text).describe('First SMTP login, of the first admin; created when missing.'),
  SMTP_PASSWORD: optional(text).describe('Password of the first SMTP login, used only to create it.'),
  MONGODB_URI: optional(text).describe(
    'Replica set to use. Unset: an embedded mongod is started (only by `npm start`).',
  ),
  MONGOD_BINARY: optional(text).describe('Path of a mongod for the embedded database.'),
  DATA_DIR: withDefault(text, '.data').describe(
    'Folder of the embedded database, the made certificate and the made secrets.',
  ),
  DELIVERY_MODE: withDefault(z.enum(['direct', 'relay', 'capture']), 'direct').describe(
    '`direct` (by MX), `relay` (all to RELAY_URL) or `capture` (into the built-in inbox). `npm start` uses capture.',
  ),
  RELAY_URL: optional(z.url({ protocol: /^smtps?$/, error: reason('field.relay_url') })).describe(
    'Smart host for DELIVERY_MODE=relay: smtp://user:password@host:port or smtps://….',
  ),
  DELIVERY_PORT: withDefault(port, '25').describe('Port of the receiving servers.'),
  DELIVERY_ALLOW_PRIVATE: withDefault(flag, 'false').describe(
    'Deliver to private, loopback and documentation addresses as well: tests and private networks.',
  ),
  DNS_SERVERS: withDefault(list, '').describe("Resolvers `ip[:port]`, comma separated; default the system's."),
  BLOCKLISTS: withDefault(
    list.transform(zones => zones.filter(zone => zone.toLowerCase() !== 'none')),
    'zen.spamhaus.org,bl.spamcop.net',
  ).describe(
    'DNS blocklists that are queried for the sending addresses when an admin opens their page, comma separated; `none` queries none.',
  ),
  DNS_PORT: withDefault(port, '53').describe('Port of authoritative queries and RFC 2136 servers.'),
  DNS_ALLOW_PRIVATE: withDefault(flag, 'false').describe(
    'Allow authoritative and RFC 2136 servers on private addresses.',
  ),
  DNS_PRIVATE_WEBHOOKS: withDefault(list, '').describe(
    'Hosts of webhook DNS providers that may have private addresses and plain HTTP, comma separated: `host`, `host:port` or `*.dns.svc` for all names below it, for ClusterDNSProviders; `namespace/host` for the DNSProviders of that namespace as well, `*/host` for every account. These providers have no login: who reaches one writes every zone that it serves.',
  ),
  SLOTS: withDefault(z.coerce.number().int().min(1).max(4096), '64').describe(
    'Number of delivery slots of a cell (docs/scaling.md); fixed in the database at first start.',
  ),
  MAX_MESSAGE_BYTES: withDefault(z.coerce.number().int().min(1024), '26214400').describe(
    'Largest message, in bytes as submitted (SMTP SIZE).',
  ),
  MAX_RECIPIENTS: withDefault(z.coerce.number().int().min(1).max(10_000), '500').describe(
    'Most recipients of one SMTP transaction.',
  ),
  SEND_REQUESTS_PER_SECOND: withDefault(z.coerce.number().min(0).max(100_000), '10').describe(
    'Sends that an account may request over HTTP per second, with bursts of twice as many; 0 = no limit.',
  ),
  ACCOUNT_RECIPIENTS_PER_SECOND: withDefault(z.coerce.number().min(0).max(100_000), '0').describe(
    'Recipients that an account may submit per second, over SMTP and HTTP together, with bursts of one second, unless an admin has set a limit for the account; 0 = no limit.',
  ),
  ACCOUNT_RECIPIENTS_PER_HOUR: withDefault(z.coerce.number().int().min(0).max(1_000_000_000), '0').describe(
    'Recipients that an account may submit per hour (clock hours, UTC), unless an admin has set a limit for the account; 0 = no limit.',
  ),
  DESTINATION_RECIPIENTS_PER_MINUTE: withDefault(z.coerce.number().int().min(0).max(10_000_000), '0').describe(
    'Recipients of one account that are tried per minute at one destination (a provider or a domain), unless an admin has set a limit for the account; the rest waits. 0 = no limit.',
  ),
  API_REQUESTS_PER_MINUTE: withDefault(z.coerce.number().int().min(0).max(1_000_000), '100').describe(
    'Other requests to the mail API that the tokens of an account may make per minute, and logins to the panel from one address; 0 = no limit.',
  ),
  PANEL_REQUESTS_PER_MINUTE: withDefault(z.coerce.number().int().min(0).max(1_000_000), '1200').describe(
    'Requests to the mail API that the panel sessions of an account may make per minute, far above what people do there; 0 = no limit.',
  ),
  DOMAINS_PER_ACCOUNT: withDefault(z.coerce.number().int().min(0).max(1_000_000), '500').describe(
    'Sending domains that an account may have, verified or not; 0 = no limit. Domains that Kubernetes resources declare are not limited: a ResourceQuota does that.',
  ),
  RETENTION_BODY_DAYS: withDefault(z.coerce.number().int().min(0), '7').describe(
    'Days that a message body is kept after its last recipient is final.',
  ),
  RETENTION_LOG_DAYS: withDefault(z.coerce.number().int().min(1), '30').describe(
    'Days that messages and delivery events are kept.',
  ),
  RETENTION_CAPTURED_DAYS: withDefault(z.coerce.number().int().min(1).max(365), '7').describe(
    'Days that captured messages are kept.',
  ),
  CAPTURED_PER_DOMAIN: withDefault(z.coerce.number().int().min(1).max(10_000), '1000').describe(
    'Captured messages that the inbox of a domain holds, a tenth of it for a domain that is not verified; the oldest are removed for new ones.',
  ),
  CAPTURED_MB_PER_DOMAIN: withDefault(z.coerce.number().int().min(1).max(100_000), '500').describe(
    'Megabytes that the captured messages of a domain may have together, before compression, a tenth of it for a domain that is not verified; the oldest are removed for new ones.',
  ),
  CLOUDFLARE_API_URL: withDefault(url, 'https://api.cloudflare.com/client/v4').describe(
    'Base address of the Cloudflare API.',
  ),
  ALIYUN_DNS_ENDPOINT: withDefault(url, 'https://alidns.aliyuncs.com').describe(
    'Endpoint of Aliyun DNS; also the international site.',
  ),
  DNSPOD_ENDPOINT: withDefault(url, 'https://dnspod.tencentcloudapi.com').describe(
    'Endpoint of Tencent DNSPod; also the international site.',
  ),
  ROUTE53_URL: withDefault(url, 'https://route53.amazonaws.com').describe(
    'Address of the Amazon Route 53 API; in China https://route53.amazonaws.com.cn.',
  ),
  AWS_STS_URL: withDefault(url, 'https://sts.amazonaws.com').describe(
    'Address of the AWS Security Token Service, for the role of the pods.',
  ),
  AWS_ROLE_ARN: optional(text).describe('Set by EKS: the role of the service account.'),
  AWS_WEB_IDENTITY_TOKEN_FILE: optional(text).describe('Set by EKS: the token of the service account.'),
  AWS_CONTAINER_CREDENTIALS_FULL_URI: optional(text).describe(
    'Set by EKS Pod Identity: where the keys of the pod are.',
  ),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: optional(text).describe(
    'Set by EKS Pod Identity: the token for that address.',
  ),
  GOOGLE_DNS_URL: withDefault(url, 'https://dns.googleapis.com').describe('Address of the Google Cloud DNS API.'),
  GOOGLE_TOKEN_URL: withDefault(url, 'https://oauth2.googleapis.com/token').describe(
    'Where keys of Google service accounts are exchanged for access tokens; the address in a key is not used.',
  ),
  GCE_METADATA_HOST: withDefault(text, 'metadata.google.internal').describe(
    'Host of the metadata server of Google Cloud, which gives the identity of the pods.',
  ),
  AZURE_MANAGEMENT_URL: withDefault(url, 'https://management.azure.com').describe(
    'Address of the Azure management API; in China https://management.chinacloudapi.cn.',
  ),
  AZURE_AUTHORITY_HOST: withDefault(url, 'https://login.microsoftonline.com').describe(
    'Where Azure gives access tokens; in China https://login.chinacloudapi.cn. Set in pods by Azure Workload Identity.',
  ),
  AZURE_TENANT_ID: optional(text).describe('Set by Azure Workload Identity: the tenant of the pod.'),
  AZURE_CLIENT_ID: optional(text).describe('Set by Azure Workload Identity: the client of the pod.'),
  AZURE_FEDERATED_TOKEN_FILE: optional(text).describe(
    'Set by Azure Workload Identity: the token of the service account.',
  ),
  DNS_WORKLOAD_IDENTITY_NAMESPACES: withDefault(list, '').describe(
    'Namespaces whose DNSProviders may use the cloud identity of the pods of Postwright (workloadIdentity: true), comma separated; `*` for all. All of them then write with the same rights.',
  ),
  CLUSTER_DNS_SECRET_NAMESPACES: withDefault(list, '').describe(
    'Namespaces, beside that of the operator, whose Secrets a ClusterDNSProvider may name, comma separated.',
  ),
  DNS_ENDPOINTS: withDefault(flag, 'false').describe(
    'Let MailDomains with dns.managementPolicy DNSEndpoint write DNSEndpoint objects for external-dns; the operator needs rights on them (chart: operator.dnsEndpoints).',
  ),
  DNS_ENDPOINT_NAMESPACES: withDefault(list, '').describe(
    'Namespaces whose MailDomains may write DNSEndpoint objects, comma separated; `*` for all. Empty: none.',
  ),
  DNS_ENDPOINT_DOMAINS: withDefault(domainList, '').describe(
    'Domains that MailDomains may publish by DNSEndpoint objects, each with all names below it, comma separated; `*` for all. Empty: none. external-dns publishes in every zone that it may write, so list the zones of mail only.',
  ),
  BUSINESS_TZ: withDefault(
    text.meta({ pattern: TIME_ZONE }).refine(isTimeZone, reason('field.time_zone')),
    'Asia/Shanghai',
  ).describe('Time zone of dates and days in the Subscription Administration API.'),
  EXPIRING_SOON_DAYS: withDefault(z.coerce.number().int().min(1).max(30), '7').describe(
    'A timed subscription that ends within this number of days is "expiring soon".',
  ),
  REMINDERS_PER_DAY: withDefault(z.coerce.number().int().min(0), '10000').describe(
    'Reminder mails of one app in a day, notices of automatic renewals not counted; its webhooks hear of the rest. 0 = no limit.',
  ),
  SUCCESS_CODE: withDefault(z.enum(['0', '200']).transform(Number), '0').describe(
    'Value of `code` in successful envelopes (0 or 200).',
  ),
  WATCH_NAMESPACES: withDefault(list, '').describe(
    'Namespaces whose resources the operator reconciles, comma separated; empty means all.',
  ),
  OPERATOR_NAMESPACE: optional(text).describe(
    'Namespace of the operator and its Lease; default that of its service account.',
  ),
  OPERATOR_IDENTITY: optional(text).describe("Name of this operator process in the Lease; default the host's name."),
  SUBMISSION_CLUSTER_HOST: optional(text).describe(
    'Host name of the SMTP Service inside the cluster, written into Secrets with endpoint Cluster; default SUBMISSION_HOST.',
  ),
  SEND_CLUSTER_URL: optional(url).describe(
    'Address of the send API inside the cluster, written into Secrets of APITokens with endpoint Cluster; default APP_BASE_URL.',
  ),
  SUBMISSION_CA_FILE: optional(text).describe(
    'PEM file with the CA of the SMTP certificate when it is not publicly trusted; written into Secrets as ca.crt.',
  ),
  ADMIN_REQUESTS_PER_MINUTE: withDefault(z.coerce.number().int().min(1), '600').describe(
    'Requests per minute of one session of the Subscription Administration API, and of what has none from one address, over all processes.',
  ),
  SERVER_REQUESTS_PER_MINUTE: withDefault(z.coerce.number().int().min(1), '3000').describe(
    'Requests per minute of one app secret, over all processes.',
  ),
  WEBHOOK_ALLOW_PRIVATE: withDefault(z.union([z.literal('loopback'), flag]), 'false').describe(
    'Send webhooks, query the api_url of a Huawei channel and fetch attachments by their address over plain HTTP and at private, loopback and documentation addresses as well; `loopback`: at addresses of this machine only, the default of `npm start`.',
  ),
  OFREP_REQUESTS_PER_MINUTE: withDefault(z.coerce.number().int().min(1), '60').describe(
    'Switch evaluations per minute of one client address with one publishable key, over all processes.',
  ),
  LOG_LEVEL: withDefault(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info').describe(
    'Least level of log lines.',
  ),
  METRICS_PORT: withDefault(listenPort, '9464').describe('Port of /metrics, /healthz and /readyz of the process.'),
  SHUTDOWN_DELAY_SECONDS: withDefault(z.coerce.number().int().min(0).max(60), '0').describe(
    'Seconds between the signal to stop, from which on /readyz fails, and the moment when listeners close. For load balancers that poll /readyz; the chart waits by itself before the signal.',
  ),
} as const

const schema = z.object(settings).superRefine((config, context) => {
  const error = (setting: string, message: string, params = {}) =>
    context.addIssue({ code: 'custom', path: [setting], message, params })
  const requireWith = (setting: keyof typeof config, other: string) => {
    if (!config[setting]) error(setting, reason('field.required_with'), { setting: other })
  }
  if (config.DELIVERY_MODE === 'relay') requireWith('RELAY_URL', 'DELIVERY_MODE=relay')
  if (config.SUBMISSION_TLS_CERT) requireWith('SUBMISSION_TLS_KEY', 'SUBMISSION_TLS_CERT')
  if (config.SUBMISSION_TLS_KEY) requireWith('SUBMISSION_TLS_CERT', 'SUBMISSION_TLS_KEY')
  if (!config.PASSWORD_LOGIN) requireWith('OIDC_ISSUER', 'PASSWORD_LOGIN=false')
  if (config.OIDC_ISSUER) requireWith('OIDC_CLIENT_ID', 'OIDC_ISSUER')
  if (config.OIDC_ADMIN_VALUES.length > 0) requireWith('OIDC_ROLE_CLAIM', 'OIDC_ADMIN_VALUES')
  if (config.OIDC_ROLE_CLAIM && config.OIDC_ADMIN_VALUES.length === 0)
    error('OIDC_ADMIN_VALUES', reason('field.required_with'), { setting: 'OIDC_ROLE_CLAIM' })
  if (config.OIDC_CLIENT_SECRET && config.OIDC_CLIENT_SECRET_FILE)
    error('OIDC_CLIENT_SECRET', reason('field.excluded_by'), { setting: 'OIDC_CLIENT_SECRET_FILE' })
  for (const [name, value] of Object.entries(TEMPLATE_VALUES)) {
    if ((config as Record<string, unknown>)[name] === value) error(name, reason('field.template_value'))
  }
})

/** Values of `.env.example` that stop the start: a password that everybody can read is none. */
const TEMPLATE_VALUES: Readonly<Record<string, string>> = {
  ADMIN_PASSWORD: 'change-me-admin-password',
  SMTP_PASSWORD: 'change-me-smtp-password',
  SESSION_SECRET: 'change-me-to-at-least-32-random-bytes-please',
  API_TOKEN: 'change-me-to-at-least-32-random-characters',
}

/** Every setting, parsed. Names are those of the environment. */
export type Config = z.output<typeof schema>

/** One setting as documentation sees it. */
export interface SettingDescription {
  name: string
  default: string | undefined
  meaning: string
}

/** Why one setting cannot be used. */
interface SettingError {
  setting: string
  reason: Sentence
}

/** All errors of the environment, in English; an entry point prints it and exits with 78 (EX_CONFIG of sysexits.h). */
export class ConfigError extends Error {
  readonly errors: readonly string[]
  constructor(given: readonly SettingError[]) {
    const errors = given.map(({ setting, reason: why }) =>
      inEnglish(sentence('detail.of_field', { field: setting, reason: why })),
    )
    super(
      `The configuration has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}:\n${errors.map(error => `  - ${error}`).join('\n')}`,
    )
    this.name = 'ConfigError'
    this.errors = errors
  }
}

/** Parses the environment. Throws {@link ConfigError} with every error; secrets are never repeated in the message. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const result = schema.safeParse(env)
  if (result.success) return result.data
  throw new ConfigError(
    result.error.issues.map(issue => {
      const setting = String(issue.path[0])
      return { setting, reason: reasonOfIssue(issue, isUnset(env[setting])) }
    }),
  )
}

/** The settings in the order of this file, for the generated documentation. */
export function describeSettings(): SettingDescription[] {
  return Object.entries(settings).map(([name, setting]) => ({
    name,
    default: defaultOf(setting),
    meaning: setting.description ?? '',
  }))
}

function defaultOf(setting: z.ZodType): string | undefined {
  const parsed = setting.safeParse(undefined)
  if (!parsed.success || parsed.data === undefined) return undefined
  const value: unknown = parsed.data
  if (!Array.isArray(value)) return String(value)
  return (
    value.map(entry => (typeof entry === 'object' ? formatListen(entry as ListenAddress) : String(entry))).join(',') ||
    undefined
  )
}

function formatListen({ host, port: number, mode }: ListenAddress): string {
  return `${host ? `${host}:` : ''}${number}:${mode}`
}

/** True for https, and for http that does not leave this machine. */
function isProtectedUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  return protocol === 'https:' || hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}
