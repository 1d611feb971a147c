/** The documents of sending domains and of their DNS checks. */
import * as field from '../../../platform/database/fields.ts'
import { type DocumentOf, defineModel } from '../../../platform/database/models.ts'
import { managed } from '../../../platform/managed/managed-fields.ts'
import type { StoredSentence } from '../../../platform/sentences/sentence.ts'

/** Codes with parameters; English text where a release before 0.2.0 stored it. */
const sentences = field.unchecked<StoredSentence[]>()

/** The result for one record. */
const recordCheck = field.part({
  /** Row of the guidance. */
  row: field.text,
  status: field.oneOf('not_started', 'pending', 'verified', 'failed', 'temporary_failure', 'conflict'),
  /** Values that DNS really gave. */
  observed: field.required([String]),
  errors: sentences,
  warnings: sentences,
  instructions: sentences,
})

const counts = field.required([field.part({ at: field.date, count: field.number })])

/** A sending domain of one account. Unique per (user_id, name): several accounts may register a name, one may verify it. */
export const domains = defineModel('domains', {
  _id: field.text,
  user_id: field.text,
  /** Lower-case A-label form (IDNA). */
  name: field.text,
  status: field.oneOf('pending', 'verified', 'failed', 'suspended'),
  /** How it came to be verified; shown to people. */
  verified_by: field.optionalOneOf('dns', 'admin', 'sandbox'),
  verified_at: field.optional(Date),
  /** Who suspended it; absent: an admin. Only the resource that did so ends it by itself. */
  suspended_by: field.optionalOneOf('resource'),
  /** Value of the ownership TXT record. */
  verification_token: field.text,
  /** Keys, newest last; `active` signs. Private keys are sealed with purpose `dkim`, place `domains/<_id>/dkim/<selector>`. */
  dkim: field.required([
    field.part({
      selector: field.text,
      algorithm: field.oneOf('rsa-sha256', 'ed25519-sha256'),
      /** Base64 of the public key: the value of `p=`. */
      public_key: field.text,
      sealed_private_key: field.text,
      state: field.oneOf('pending', 'active', 'retiring', 'revoked'),
      created_at: field.date,
      /** When every authoritative server first showed the record. */
      seen_at: field.optional(Date),
      activated_at: field.optional(Date),
      /** When a newer key took over; the record stays for queued mail. */
      retired_at: field.optional(Date),
      /** When the record was replaced by an empty `p=`. */
      revoked_at: field.optional(Date),
    }),
  ]),
  dns_account_id: field.optional(String),
  /** How the records are kept; absent: by hand, with the defaults. */
  dns: field.optional(
    field.part({
      /** Write and repair the records through the DNS account; otherwise only on request. */
      manage: field.flag,
      /** Write A and AAAA of MAIL_HOSTNAME as well when the account holds its zone; default true. */
      address: field.optional(Boolean),
      dmarc: field.optional(
        field.part({ policy: field.oneOf('none', 'quarantine', 'reject'), rua: field.required([String]) }),
      ),
      /** Further SPF mechanisms of this domain, as in `include:_spf.example.net`. */
      spf: field.optional([String]),
      /** The end of an SPF record that we make; default `~all`. */
      spf_all: field.optionalOneOf('~all', '-all'),
      /** Seconds that new records may be cached; default 600. */
      ttl: field.optional(Number),
      /** Records that the owner sets: shown and checked, not written. */
      by_hand: field.optional([field.oneOf('ownership', 'dkim', 'spf', 'dmarc', 'return_path', 'tracking')]),
      /** Days between automatic rotations of the DKIM key; 0 or absent: only on demand. */
      dkim_rotation_days: field.optional(Number),
      /** Envelope sender of its mail; default `own`: `bounce.<domain>` once its records are verified. */
      return_path: field.optionalOneOf('own', 'shared', 'off'),
      /** Form of the records at `bounce.<domain>`; default `cname`. */
      return_path_records: field.optionalOneOf('cname', 'mx'),
      /** external-dns writes the records, from a DNSEndpoint object of the MailDomain. */
      endpoint: field.optional(Boolean),
      /** Repairs of the last day, oldest first: the loop detector's memory. */
      repairs: field.optional([field.date]),
      /** The loop detector stopped repairs until this time. */
      repairs_paused_until: field.optional(Date),
    }),
  ),
  /** What of its mail is tracked; absent: nothing. */
  tracking: field.optional(field.part({ opens: field.flag, clicks: field.flag })),
  /** Where its mail goes instead of to its recipients; absent: it goes to them. */
  delivery: field.optionalOneOf('capture', 'redirect'),
  /** The one recipient of its mail; set with `redirect` only. */
  redirect_to: field.optional(String),
  /** Records that we wrote at the provider, or merged our terms into; only these are ever deleted. */
  dns_owned: field.optional([
    field.part({
      /** Row of the guidance, as in `spf` or `dkim:pw202611a`. */
      row: field.text,
      account_id: field.text,
      name: field.text,
      type: field.oneOf('TXT', 'A', 'AAAA', 'CNAME', 'MX'),
      /** The canonical value that we wrote. */
      value: field.text,
      /** Identifier at the provider; absent while the outcome of the write is unknown. */
      record_id: field.optional(String),
      /** Value of the foreign record before we merged into it; absent when the record is all ours. */
      before: field.optional(String),
      at: field.date,
    }),
  ]),
  /** The domain is being removed: until then no process writes records for it. */
  leaving_until: field.optional(Date),
  /** Result of the last DNS check. */
  check: field.optional(
    field.part({
      at: field.date,
      /** Checks since the domain was registered or last changed: chooses the interval while pending. */
      attempts: field.number,
      /** Definite failures in a row of what verification rests on; temporary errors do not count. */
      failures: field.number,
      failing_since: field.optional(Date),
      /** When the domain was announced as lost; it still sends for the grace time. */
      lost_at: field.optional(Date),
      records: field.required([recordCheck]),
      /** Zones that hold the names of its records, by their SOA records; absent: never found. */
      zones: field.optional([String]),
      /** Name servers of the domain; absent: never found, or checked by an earlier release. */
      name_servers: field.optional([String]),
      /** The DMARC policy that receivers apply, and the name whose record has it; absent: none was found. */
      dmarc: field.optional(field.part({ policy: field.oneOf('none', 'quarantine', 'reject'), at: field.text })),
      /** BOUNCE_DOMAIN, if the records at `bounce.<domain>` led there as a whole, in either form. */
      return_path: field.optional(String),
      /** Rows that we wrote again after this check saw them missing or changed. */
      repaired: field.optional(field.part({ at: field.date, rows: field.required([String]) })),
      /** Errors of the domain as a whole, as in "another account holds the parent". */
      errors: sentences,
    }),
  ),
  /** What receivers refused lately because they could not verify the sender; absent: nothing. */
  authentication: field.optional(
    field.part({
      /** Another one with each write. */
      revision: field.text,
      /** Time of the latest refusal. */
      last_at: field.date,
      refusals: field.required([
        field.part({
          site: field.text,
          code: field.optional(Number),
          enhanced: field.optional(String),
          text: field.text,
          last_at: field.date,
          hours: counts,
          days: counts,
        }),
      ]),
    }),
  ),
  /** Time of the next DNS check; the worker claims it by a guarded update. Absent: no more checks. */
  next_check_at: field.optional(Date),
  /** Equal to `next_check_at` when that run only has to look for changes. */
  quick_check_at: field.optional(Date),
  ...managed,
  /** The resource in `managed_by` declares its limits of sending. */
  limits_declared: field.optional(Boolean),
  /** Uid of the resource that managed it until its namespace lost the right to the account; with the right it comes back. */
  formerly_managed_by: field.optional(String),
  ...field.times,
})
domains.schema.index({ user_id: 1, name: 1 }, { unique: true })
domains.schema.index({ name: 1, created_at: 1 })
domains.schema.index({ name: 1 }, { unique: true, partialFilterExpression: { status: 'verified' } })
domains.schema.index({ next_check_at: 1 }, { sparse: true })
domains.schema.index({ dns_account_id: 1 }, { sparse: true })
domains.schema.index({ 'authentication.last_at': -1 }, { sparse: true })
// For claims that leave some accounts out: their documents are not read.
domains.schema.index(
  { next_check_at: 1, user_id: 1 },
  { partialFilterExpression: { next_check_at: { $exists: true } } },
)

/** A check as history keeps it until the retention of the log; a run without any change only moves the domain's summary. */
export const dnsChecks = defineModel('dns_checks', {
  _id: field.text,
  user_id: field.text,
  domain_id: field.text,
  at: field.date,
  /** Who asked. */
  by: field.oneOf('schedule', 'request'),
  outcome: field.oneOf('verified', 'pending', 'failed', 'temporary'),
  /** What changed with this check. */
  event: field.optionalOneOf(
    'domain.verified',
    'domain.failing',
    'domain.lost',
    'domain.failed',
    'domain.recovered',
    'domain.repaired',
  ),
  records: field.required([recordCheck]),
  /** Records whose status differs from that of the check before; absent in checks of earlier releases. */
  changes: field.optional([field.part({ row: field.text, from: field.optional(String), to: field.text })]),
  errors: sentences,
  ms: field.number,
  queries: field.number,
  exp: field.date,
})
dnsChecks.schema.index({ domain_id: 1, _id: -1 })
dnsChecks.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

export type DomainDoc = DocumentOf<typeof domains>
export type DnsCheckDoc = DocumentOf<typeof dnsChecks>
export type DkimKeyDoc = DomainDoc['dkim'][number]
export type DnsSettingsDoc = NonNullable<DomainDoc['dns']>
export type OwnedRecordDoc = NonNullable<DomainDoc['dns_owned']>[number]
export type CheckSummaryDoc = NonNullable<DomainDoc['check']>
export type RecordCheckDoc = CheckSummaryDoc['records'][number]
