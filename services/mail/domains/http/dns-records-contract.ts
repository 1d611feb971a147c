/** How DNS records, their checks and the settings of a domain look in the mail API. */
import { z } from 'zod'
import { sentenceCode, sentenceCodes, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { HOSTED_PROVIDERS } from '../../dns/records/dns-host.ts'
import { isMechanism } from '../../dns/records/spf-term.ts'

const time = z.iso.datetime()
const texts = z.array(z.string())

/** Result of the last check of a record. */
export const recordStatus = z.enum(['not_started', 'pending', 'verified', 'failed', 'temporary_failure', 'conflict'])

/** One record of a domain's guidance with the result of the last check. */
export const dnsRecord = z
  .strictObject({
    id: z.string(),
    purpose: z.enum([
      'ownership',
      'dkim',
      'spf',
      'dmarc',
      'return_path',
      'return_path_mx',
      'return_path_spf',
      'tracking',
      'a',
      'ptr',
      'mta_sts',
      'tls_rpt',
    ]),
    need: z.enum(['required', 'recommended', 'optional']),
    type: z.enum(['TXT', 'A', 'AAAA', 'CNAME', 'MX', 'PTR']),
    /** Fully qualified. */
    name: z.string(),
    /** Relative to the domain of this list. */
    host: z.string(),
    /** Zone that holds the name: by its SOA record since the first check, by the Public Suffix List until then. */
    zone: z.string(),
    /** Relative to the zone, as DNS panels ask for it. */
    zone_host: z.string(),
    /** The record for a name that has none yet. */
    value: z.string(),
    /** What to publish: `value`, merged into the SPF or DMARC record that DNS has. */
    publish: z.string(),
    ttl: z.int(),
    status: recordStatus,
    /** Values that DNS really gave. */
    observed: texts,
    errors: texts,
    errors_codes: sentenceCodes,
    warnings: texts,
    warnings_codes: sentenceCodes,
    instructions: texts,
    instructions_codes: sentenceCodes,
    /** One click can write it, where the DNS account holds its zone. */
    writable: z.boolean(),
    note: z.string().nullable(),
    note_code: sentenceCode.nullable(),
    note_params: sentenceParams.nullable(),
    checked_at: time.nullable(),
  })
  .meta({ id: 'DnsRecord' })

const MECHANISM = 'is a mechanism like include:_spf.example.net'
/** In any case, without the flag for it: JSON Schema has none. */
const NAMED = /^(?:[Ii][Nn][Cc][Ll][Uu][Dd][Ee]|[Ii][Pp][46]|[Aa]|[Mm][Xx]|[Ee][Xx][Ii][Ss][Tt][Ss]):[!-~]{1,250}$/
const policy = z.enum(['none', 'quarantine', 'reject'])

/**
 * Envelope sender of the domain's mail, where the installation takes reports about deliveries: `own`: an address at
 * `bounce.<domain>` once its records are verified; `shared`: at the installation's own domain; `off`: as submitted.
 */
const returnPath = z.enum(['own', 'shared', 'off'])

/**
 * Form of the records at `bounce.<domain>`: `cname`: one alias, purpose `return_path`; `mx`: an MX and an SPF record,
 * purposes `return_path_mx` and `return_path_spf`. A check accepts either form.
 */
const returnPathRecords = z.enum(['cname', 'mx'])

/** How the records of a domain are kept. */
export const dnsSettings = z
  .strictObject({
    /** Write and repair the records through the DNS account; otherwise only on request. */
    manage: z.boolean(),
    /** Write A and AAAA of the sending host as well, where the account holds its zone. */
    address: z.boolean(),
    dmarc: z.strictObject({ policy, rua: texts }),
    /** Further SPF mechanisms, as in `include:_spf.example.net`. */
    spf: texts,
    /** Days between automatic rotations of the DKIM key; 0: only on demand. */
    dkim_rotation_days: z.int(),
    return_path: returnPath,
    return_path_records: returnPathRecords,
  })
  .meta({ id: 'DnsSettings' })

/** A change of {@link dnsSettings}: fields that are left out stay as they are. */
export const dnsSettingsChange = z
  .strictObject({
    manage: z.boolean(),
    address: z.boolean(),
    dmarc: z.strictObject({ policy, rua: z.array(z.email().max(254)).max(5) }),
    spf: z
      .array(
        z
          .string()
          .regex(NAMED, MECHANISM)
          // One term that receivers cannot read makes the whole record void.
          .refine(isMechanism, MECHANISM)
          .meta({ format: 'spf-mechanism', examples: ['include:_spf.example.net'] }),
      )
      .max(10),
    dkim_rotation_days: z.int().min(0).max(3650),
    return_path: returnPath,
    return_path_records: returnPathRecords,
  })
  .partial()

/** What of a domain's mail is tracked. */
export const trackingSettings = z
  .strictObject({
    opens: z.boolean().describe('An image in HTML shows that a message was opened.'),
    clicks: z.boolean().describe('Links in HTML lead through a host of the domain.'),
  })
  .meta({ id: 'TrackingSettings' })

/** The last check of a domain as a whole. */
export const checkSummary = z.strictObject({
  at: time,
  /** Time of the next check of DNS; null: on request only. */
  next_at: time.nullable(),
  /** The DMARC policy that receivers apply, from the domain's record or one above it; null: none was found. */
  dmarc_policy: policy.nullable(),
  /** Name servers of the domain, as public DNS delegates it; empty: none was found yet. */
  name_servers: texts,
  /** Who runs its DNS, where its name servers show it, the page where zones are edited there, and the kind of account for it. */
  dns_host: z
    .strictObject({
      name: z.string(),
      console_url: z.url(),
      provider: z.enum(HOSTED_PROVIDERS).optional(),
    })
    .nullable(),
  /** Set while a verified domain's proof is missing. */
  failing_since: time.nullable(),
  errors: texts,
  errors_codes: sentenceCodes,
})
