/**
 * The contract of DNS providers, at the level of single records. A provider knows nothing of mail: SPF, DKIM and DMARC
 * are planned above it. Values are canonical: TXT joined and unquoted, names in lower case without the last dot.
 */
import { type Sentence, SentenceError } from '../../../platform/sentences/sentence.ts'
import type { ZoneFacts } from '../plan/plan-item.ts'
import type { RecordType, StoredRecord, WantedRecord } from '../records/record.ts'

/** The kinds of providers. */
export type ProviderType = 'cloudflare' | 'aliyun' | 'dnspod' | 'rfc2136' | 'webhook' | 'route53' | 'google' | 'azure'

/** A zone of the account. */
export interface Zone extends ZoneFacts {
  /** Name servers that the provider assigned; empty when it does not say. */
  nameServers: string[]
  /** What keeps written records from being served. */
  warnings: Sentence[]
}

/** A name to read, and the types that may be written there. */
export interface Question {
  name: string
  types: readonly RecordType[]
}

/** The records of a name. Without `zone` no zone of the account contains the name. */
export interface NameState {
  name: string
  zone?: Zone
  records: StoredRecord[]
}

/** One change of a record. */
export type Change =
  | { action: 'create'; record: WantedRecord }
  | { action: 'update'; record: WantedRecord; before: StoredRecord }
  | { action: 'delete'; before: StoredRecord }

/** Several changes of one zone in one call: all of them take effect, or none. */
export interface Batch {
  /** The provider refuses (`changed`) unless every record set is as it was seen: no read is needed afterwards. */
  readonly guarded: boolean
  /** The records after creates and updates, in the order of the changes. `seen`: all records at the changed names. */
  write(
    zone: Zone,
    changes: readonly Change[],
    seen: readonly StoredRecord[],
    note: string,
  ): Promise<(StoredRecord | undefined)[]>
}

/** A DNS account. All methods throw {@link DnsProviderError}. */
export interface DnsProvider {
  readonly type: ProviderType | 'memory' | 'dnsendpoint'
  /** Verifies the credentials and the permissions that show without writing; returns up to 100 zones. */
  test(): Promise<Zone[]>
  /** The zone that contains a name: the longest suffix in the account's own list, never derived from public DNS. */
  findZone(name: string): Promise<Zone | undefined>
  /** Every record at exactly this name, of any type, on the default line. */
  list(zone: Zone, name: string): Promise<StoredRecord[]>
  /**
   * The zones and records of some names in as few calls as possible. Contains at least the records of the asked types
   * and aliases; where an alias may be written, all records of the name.
   */
  read(questions: readonly Question[]): Promise<NameState[]>
  /** Undefined where the provider accepts one record at a time. */
  readonly batch?: Batch
  /** Adds a record; `note` is a comment for people where the provider has room for one. */
  create(zone: Zone, record: WantedRecord, note: string): Promise<StoredRecord>
  /** Changes one record in place: there is no moment without it. */
  update(zone: Zone, before: StoredRecord, record: WantedRecord): Promise<StoredRecord>
  /** Deletes one record by its id; a missing record is success. */
  remove(zone: Zone, record: StoredRecord): Promise<void>
}

/**
 * Kinds of errors that callers treat differently. `unknown_outcome`: a write may or may not have taken effect; read
 * before repeating it. `changed`: the record was no longer as the caller saw it; plan again. `duplicate`: the same record
 * exists.
 */
export type ProviderErrorKind =
  | 'auth'
  | 'permission'
  | 'zone_not_found'
  | 'zone_ambiguous'
  | 'rate_limited'
  | 'locked'
  | 'duplicate'
  | 'conflict'
  | 'changed'
  | 'invalid'
  | 'not_found'
  | 'unavailable'
  | 'unknown_outcome'

/** The sentence is for the owner of the account. Never contains headers or secrets. */
export class DnsProviderError extends SentenceError {
  readonly kind: ProviderErrorKind
  readonly provider: DnsProvider['type']
  /** The provider's own error code and request id, for its support. */
  readonly code: string | undefined
  readonly requestId: string | undefined
  /** The permission that the credentials lack. */
  readonly permission: string | undefined
  /** Seconds to wait. */
  readonly retryAfter: number | undefined
  constructor(
    provider: DnsProvider['type'],
    kind: ProviderErrorKind,
    given: Sentence,
    more: { code?: string; requestId?: string; permission?: string; retryAfter?: number } = {},
  ) {
    super(given)
    this.provider = provider
    this.kind = kind
    this.code = more.code
    this.requestId = more.requestId
    this.permission = more.permission
    this.retryAfter = more.retryAfter
  }
}

/** Keeps the calls of one account under its provider's limit, over all processes that use it. */
export interface CallBudget {
  /** Waits for a call; throws {@link DnsProviderError} `rate_limited` when that would take more than 10 s. */
  take(): Promise<void>
  /** No calls for this many seconds, as the provider asked. */
  block(seconds: number): Promise<void>
}
