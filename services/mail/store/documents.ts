/**
 * The documents of the mail half, as they lie in MongoDB: the data model on one page.
 * Hot collections (bodies, messages, deliveries, events) are written by acceptance and delivery only.
 */
import type { mongo } from 'mongoose'
import type { ManagedBy, ResourceState } from '../../platform/managed/rules/managed-by.ts'
import type { RecipientStatus } from './rules/email-status.ts'
import type { Lane } from './rules/flow.ts'

export type { ManagedBy, RecipientStatus, ResourceState }

/** A sending domain of one account. Unique per (user_id, name): several accounts may claim a name, one may verify it. */
export interface DomainDoc {
  _id: string
  user_id: string
  /** Lower-case A-label form (IDNA). */
  name: string
  status: 'pending' | 'verified' | 'failed' | 'suspended'
  /** How it came to be verified; shown to people. */
  verified_by?: 'dns' | 'admin' | 'sandbox'
  verified_at?: Date
  /** Who suspended it; absent: an admin. Only the resource that did so ends it by itself. */
  suspended_by?: 'resource'
  /** Value of the ownership TXT record. */
  verification_token: string
  /** Keys, newest last; `active` signs. Private keys are sealed with purpose `dkim`, place `domains/<_id>/dkim/<selector>`. */
  dkim: DkimKeyDoc[]
  dns_account_id?: string
  /** How the records are kept; absent: by hand, with the defaults. */
  dns?: DnsSettingsDoc
  /** Records that we wrote at the provider; only these are ever deleted. */
  dns_owned?: OwnedRecordDoc[]
  /** It is being given up: until then nobody writes records for it. */
  leaving_until?: Date
  /** Result of the last look at DNS. */
  check?: CheckSummaryDoc
  /** Next look at DNS; the worker claims it by a guarded update. Absent: nobody looks any more. */
  next_check_at?: Date
  managed_by?: ManagedBy
  /** Uid of the resource that managed it until its namespace lost the right to the account; with the right it comes back. */
  formerly_managed_by?: string
  k8s?: ResourceState
  created_at: Date
  updated_at: Date
}

/** How a domain's records are kept. */
export interface DnsSettingsDoc {
  /** Write and repair the records through the DNS account; otherwise only on request. */
  manage: boolean
  /** Write A and AAAA of MAIL_HOSTNAME as well when the account holds its zone; default true. */
  address?: boolean
  dmarc?: { policy: 'none' | 'quarantine' | 'reject'; rua: string[] }
  /** Further SPF mechanisms of this domain, as in `include:_spf.example.net`. */
  spf?: string[]
  /** The end of an SPF record that we make; default `~all`. */
  spf_all?: '~all' | '-all'
  /** Seconds that new records may be cached; default 600. */
  ttl?: number
  /** Records that the owner sets: shown and checked, not written. */
  by_hand?: ('ownership' | 'dkim' | 'spf' | 'dmarc')[]
  /** Days between automatic rotations of the DKIM key; 0 or absent: only on demand. */
  dkim_rotation_days?: number
  /** Repairs of the last day, oldest first: the loop detector's memory. */
  repairs?: Date[]
  /** The loop detector stopped repairs until this time. */
  repairs_paused_until?: Date
}

/** A record that we wrote, or one that we merged our terms into. */
export interface OwnedRecordDoc {
  /** Row of the guidance, as in `spf` or `dkim:pw202611a`. */
  row: string
  account_id: string
  name: string
  type: 'TXT' | 'A' | 'AAAA' | 'CNAME'
  /** The canonical value that we wrote. */
  value: string
  /** Identifier at the provider; absent while the outcome of the write is unknown. */
  record_id?: string
  /** Value of the foreign record before we merged into it; absent when the record is all ours. */
  before?: string
  at: Date
}

/** What the last look at DNS found; details of every record. */
export interface CheckSummaryDoc {
  at: Date
  /** Checks since the claim was made or last changed: chooses the interval while pending. */
  attempts: number
  /** Definite failures in a row of what verification rests on; temporary errors do not count. */
  failures: number
  failing_since?: Date
  /** When the domain was announced as lost; it still sends for the grace time. */
  lost_at?: Date
  records: RecordCheckDoc[]
  /** Faults of the domain as a whole, as in "another account holds the parent". */
  errors: string[]
}

/** The verdict on one record. */
export interface RecordCheckDoc {
  /** Row of the guidance. */
  row: string
  status: 'not_started' | 'pending' | 'verified' | 'failed' | 'temporary_failure' | 'conflict'
  /** Values that DNS really gave. */
  observed: string[]
  errors: string[]
  warnings: string[]
  instructions: string[]
}

/** A check as history keeps it; a run without any change only moves the domain's summary. */
export interface DnsCheckDoc {
  _id: string
  user_id: string
  domain_id: string
  at: Date
  /** Who asked. */
  by: 'schedule' | 'request'
  outcome: 'verified' | 'pending' | 'failed' | 'temporary'
  /** What changed with this check. */
  event?:
    | 'domain.verified'
    | 'domain.failing'
    | 'domain.lost'
    | 'domain.failed'
    | 'domain.recovered'
    | 'domain.repaired'
  records: RecordCheckDoc[]
  errors: string[]
  ms: number
  queries: number
  exp: Date
}

/** Credentials for a DNS provider; one per account and provider, those of a DNSProvider resource apart. */
export interface DnsAccountDoc {
  _id: string
  user_id: string
  provider: 'cloudflare' | 'aliyun' | 'dnspod' | 'rfc2136'
  name: string
  /** JSON of the credentials, sealed with purpose `dns-credential`, place `dns-accounts/<_id>`. Never given back. */
  sealed: string
  /** Made by a person, not by a resource: unique per user and provider. */
  by_hand: boolean
  /** Result of the last test. */
  tested: { at: Date; ok: boolean; zones: string[]; message?: string }
  managed_by?: ManagedBy
  k8s?: ResourceState
  created_at: Date
  updated_at: Date
}

/** One DKIM key of a domain. */
export interface DkimKeyDoc {
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  /** Base64 of the public key as it stands behind `p=`. */
  public_key: string
  sealed_private_key: string
  state: 'pending' | 'active' | 'retiring' | 'revoked'
  created_at: Date
  /** When every authoritative server first showed the record. */
  seen_at?: Date
  activated_at?: Date
  /** When a newer key took over; the record stays for queued mail. */
  retired_at?: Date
  /** When the record was replaced by an empty `p=`. */
  revoked_at?: Date
}

/** An SMTP login. `username` is unique over all accounts, case-folded. */
export interface CredentialDoc {
  _id: string
  user_id: string
  username: string
  /** argon2id. */
  password_hash: string
  /** Sealed with purpose `smtp-password`, place `credentials/<_id>`. Absent: "hash only", not copyable. */
  password_sealed?: string
  /** When the password was made; absent for the first one and those of releases that did not write it. */
  password_made_at?: Date
  /** SHA-256 of the made password before the last rotation, which works until then; random passwords need no slow hash. */
  previous?: { sha256: string; until: Date }
  /** Addresses or `@domain` that may stand in From and the envelope; empty = all of the account's domains. */
  allowed_senders: string[]
  /** Networks that may log in; empty = any. */
  allowed_cidrs: string[]
  /** Messages per hour over all processes; 0 = no limit. */
  messages_per_hour: number
  /** Takes the place of senders that the login may not use; null or absent: they are refused. */
  fallback_sender?: string | null
  /** It may send with an empty envelope sender, as the bounces of a mail server do. */
  allow_null_sender?: boolean
  disabled?: boolean
  last_used_at?: Date
  managed_by?: ManagedBy
  k8s?: ResourceState
  created_at: Date
  updated_at: Date
}

/** A send token `pw_live_<id>_<secret>`; only the SHA-256 of the secret is stored. `_id` is `key_<id>`. */
export interface TokenDoc {
  _id: string
  user_id: string
  name: string
  mode: 'live' | 'test'
  secret_hash: string
  scopes: string[]
  /** Domain names it may send from; empty = all of the account. */
  domains: string[]
  allowed_cidrs: string[]
  expires_at?: Date
  revoked_at?: Date
  last_used_at?: Date
  managed_by?: ManagedBy
  k8s?: ResourceState
  created_at: Date
}

/** A part of a raw message, at most 1 MiB before compression. `_id` is `<message>#<part>`. Read by `readBody`. */
export interface BodyDoc {
  _id: string
  m: string
  p: number
  z: mongo.Binary
  /** How `z` is compressed; absent in small parts, which are stored as they are. */
  enc?: 'zstd'
  /** Deleted at this time: acceptance + lifetime, then final + RETENTION_BODY_DAYS. */
  exp: Date
}

/** A recipient and the last state that was noted in its message. */
export interface RecipientState {
  email: string
  type: 'to' | 'cc' | 'bcc' | 'envelope'
  status: RecipientStatus
  /** SMTP reply code and enhanced code of the last attempt. */
  code?: number
  enhanced?: string
  at?: Date
  /** DSN parameters of RCPT TO (RFC 3461); `orcpt` in xtext, as it goes into a command. */
  notify?: string[]
  orcpt?: string
}

/** An accepted message, written in one transaction with its bodies and deliveries. */
export interface MessageDoc {
  _id: string
  user_id: string
  domain_id: string
  /** Credential or token that submitted it. */
  via: { channel: 'smtp' | 'http' | 'system'; id?: string }
  /** Envelope sender as it goes out; empty for DSNs. */
  mail_from: string
  /** Account that a delivery report is for: capture mode shows it the report. */
  report_for?: string
  /** First address of the From header. */
  from: string
  subject: string
  /** Message-ID header with its angle brackets. */
  message_id: string
  size: number
  parts: number
  rcpts: RecipientState[]
  /** Recipients that are not final yet. */
  left: number
  lane: Lane
  /** What to do with an attempt whose outcome is unknown. */
  ambiguous: 'retry' | 'fail'
  test?: boolean
  tags?: { name: string; value: string }[]
  metadata?: Record<string, string>
  /** `<operation>:<key>`, unique per account while it lives. */
  idem?: { key: string; hash: string; answer: string; until: Date }
  scheduled_at?: Date
  /** DSN parameters of MAIL FROM; `envid` in xtext, as it goes into a command. */
  dsn?: { ret?: 'FULL' | 'HDRS'; envid?: string }
  smtputf8?: boolean
  body8bit?: boolean
  created_at: Date
  /** No attempt after this time: final DSN. */
  expires_at: Date
  /** When all recipients became final. */
  final_at?: Date
  /** Removal time of the document. */
  exp: Date
}

/** One recipient still to be delivered: hot and small, removed when final. `_id` is `<message>.<n>`. */
export interface DeliveryDoc {
  _id: string
  m: string
  user_id: string
  rcpt: string
  /** Destination site: provider, MX roll-up or domain. */
  site: string
  slot: number
  lane: Lane
  /**
   * Name of its flow (rules/flow.ts) while it is ready to be taken; absent while a worker holds it and while its time
   * has not come. At `due` it becomes ready.
   */
  flow?: string
  /** Next time to try, and the visibility timeout while a worker holds it. */
  due: Date
  /** Names the claim that holds it. */
  tok?: string
  /** Set to `dot` before the final dot goes out. */
  ph?: 'dot'
  att: number
  /** Ambiguous attempts so far. */
  amb?: number
  last?: { code?: number; enhanced?: string; text: string; mx?: string; at: Date }
  expires_at: Date
  created_at: Date
}

/** One attempt, append-only. `_id` is `<delivery>#<attempt>`, so a repeated insert changes nothing. */
export interface EventDoc {
  _id: string
  m: string
  user_id: string
  rcpt: string
  attempt: number
  type: 'delivered' | 'deferred' | 'bounced' | 'failed' | 'canceled' | 'expired'
  at: Date
  ms: number
  mx?: string
  ip?: string
  tls?: { version: string; cipher: string; verified: boolean }
  code?: number
  enhanced?: string
  text: string
  /** The outcome is unknown: the final dot went out and no reply came. */
  ambiguous?: boolean
  /** Redacted SMTP conversation, at most 4 KiB. */
  conversation?: string
  exp: Date
}

/** Ownership of a delivery slot: the truth that fences workers. */
export interface SlotDoc {
  _id: number
  owner: string
  epoch: number
  until: Date
}

/** State of a destination site that is, or lately was, in trouble: what workers share and people see. */
export interface SiteDoc {
  _id: string
  /** Absent in documents of release 0.1.0: throttled. */
  state?: 'up' | 'throttled' | 'down'
  /** When this state began. */
  since?: Date
  /** The reply or error that began it. */
  reason?: string
  /** Nothing begins before; for a site that is down, the time of the next probe. */
  suspended_until?: Date
  /** Transactions at once that the writing worker allows. */
  limit: number
  /** Messages a second that the writing worker allows; absent without a limit. */
  rate?: number
  /** Worker that wrote it last. */
  by?: string
  updated_at: Date
}
