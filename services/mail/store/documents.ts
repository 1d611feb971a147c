/**
 * The documents of the mail half, as they lie in MongoDB: the data model on one page.
 * Hot collections (bodies, messages, deliveries, events) are written by acceptance and delivery only.
 * `cell` is 0 today; every message-bound document carries it so that a shard key exists from the first day.
 */
import type { mongo } from 'mongoose'

/** Kubernetes resource that owns a record; such a record is read-only in panel and API (decision: one way). */
export interface ManagedBy {
  kind: string
  namespace: string
  name: string
  uid: string
}

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
  /** Value of the ownership TXT record. */
  verification_token: string
  /** Keys, newest last; `active` signs. Private keys are sealed with purpose `dkim`, place `domains/<_id>/dkim/<selector>`. */
  dkim: DkimKeyDoc[]
  dns_account_id?: string
  managed_by?: ManagedBy
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
  /** Addresses or `@domain` that may stand in From and the envelope; empty = all of the account's domains. */
  allowed_senders: string[]
  /** Networks that may log in; empty = any. */
  allowed_cidrs: string[]
  /** Messages per hour over all processes; 0 = no limit. */
  messages_per_hour: number
  disabled?: boolean
  last_used_at?: Date
  managed_by?: ManagedBy
  created_at: Date
  updated_at: Date
}

/** A send token `pw_live_<id>_<secret>`; only the SHA-256 of the secret is stored. `_id` is the id inside the token. */
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
  created_at: Date
}

/** A part of a raw message, zstd-compressed, at most 1 MiB before compression. `_id` is `<message>#<part>`. */
export interface BodyDoc {
  _id: string
  cell: 0
  m: string
  p: number
  z: mongo.Binary
  /** Deleted at this time: acceptance + lifetime, then final + RETENTION_BODY_DAYS. */
  exp: Date
}

/** Status of one recipient. */
export type RecipientStatus =
  | 'queued'
  | 'scheduled'
  | 'sending'
  | 'deferred'
  | 'delivered'
  | 'bounced'
  | 'failed'
  | 'suppressed'
  | 'canceled'

/** A recipient as the message remembers it, after the settle round (decision 16). */
export interface RecipientState {
  email: string
  type: 'to' | 'cc' | 'bcc' | 'envelope'
  status: RecipientStatus
  /** SMTP reply code and enhanced code of the last attempt. */
  code?: number
  enhanced?: string
  at?: Date
  /** DSN parameters of RCPT TO (RFC 3461). */
  notify?: string[]
  orcpt?: string
}

/** An accepted message: the commit point. A delivery whose message is missing was never accepted. */
export interface MessageDoc {
  _id: string
  cell: 0
  user_id: string
  domain_id: string
  /** Credential or token that submitted it. */
  via: { channel: 'smtp' | 'http' | 'system'; id?: string }
  /** Envelope sender as it goes out; empty for DSNs. */
  mail_from: string
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
  lane: 'transactional' | 'bulk' | 'system'
  /** What to do with an attempt whose outcome is unknown. */
  ambiguous: 'retry' | 'fail'
  test?: boolean
  tags?: { name: string; value: string }[]
  metadata?: Record<string, string>
  /** `<operation>:<key>`, unique per account while it lives. */
  idem?: { key: string; hash: string; answer: string; until: Date }
  scheduled_at?: Date
  /** DSN parameters of MAIL FROM. */
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
  cell: 0
  m: string
  user_id: string
  rcpt: string
  /** Destination site: provider, MX roll-up or domain. */
  site: string
  slot: number
  lane: MessageDoc['lane']
  /** Next time to try, and the visibility timeout while a worker holds it. */
  due: Date
  /** `<slot>:<epoch>:<nonce>` of the claim. */
  tok?: string
  /** Set to `dot` before the final dot goes out. */
  ph?: 'dot'
  att: number
  /** Ambiguous attempts so far. */
  amb?: number
  last?: { code?: number; enhanced?: string; text: string; mx?: string; at: Date }
  expires_at: Date
  /** Held deliveries keep their due time here and stand at the far future. */
  hold?: Date
  created_at: Date
}

/** One attempt, append-only. `_id` is `<delivery>#<attempt>`, so a repeated insert changes nothing. */
export interface EventDoc {
  _id: string
  cell: 0
  m: string
  user_id: string
  rcpt: string
  attempt: number
  type: 'delivered' | 'deferred' | 'bounced' | 'failed' | 'canceled' | 'suppressed' | 'expired'
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

/** What is known of a destination site. */
export interface SiteDoc {
  _id: string
  suspended_until?: Date
  limit: number
  updated_at: Date
}
