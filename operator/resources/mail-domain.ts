/** MailDomain: a sending domain with its DKIM key and DNS records. */
import { z } from 'zod'
import {
  defineKind,
  domainName,
  FORMER_VERSIONS,
  immutable,
  mapOf,
  mapOfTexts,
  presenceIsFixed,
  READY_COLUMNS,
  referenceTo,
  setOf,
  statusFields,
  time,
  withRules,
} from './kind.ts'
import { sendingLimitsField } from './sending-limits.ts'

const kept = (what: string) =>
  z.enum(['Managed', 'Guidance']).default('Managed').describe(`${what} Guidance: shown and checked only.`)

const dns = withRules(
  z.object({
    managementPolicy: z
      .enum(['Manage', 'DNSEndpoint', 'Observe', 'None'])
      .default('Observe')
      .describe(
        'Manage: write the records at the provider and keep them. DNSEndpoint: write them into a DNSEndpoint object, which external-dns publishes. Observe: only check public DNS. None: neither.',
      ),
    dnsEndpoint: z
      .object({
        labels: mapOfTexts(z.string().max(63), 16)
          .optional()
          .describe(
            'Labels of the object, for the label filter of external-dns. No keys of postwright.dev/, nor of external-dns.alpha.kubernetes.io/ except controller.',
          ),
        annotations: mapOfTexts(z.string().max(1024), 16)
          .optional()
          .describe(
            'Annotations of the object, for the annotation filter of external-dns. No keys of postwright.dev/, nor of external-dns.alpha.kubernetes.io/ except controller.',
          ),
        txtFormat: z
          .enum(['Quoted', 'Plain'])
          .default('Quoted')
          .describe(
            'Quoted: TXT values are in quotes, in strings of at most 255 octets, which most providers of external-dns need. Plain: for those that store the quotes, such as its Azure provider.',
          ),
      })
      .optional()
      .describe('Settings of managementPolicy DNSEndpoint. The object has the name of the MailDomain.'),
    providerRef: referenceTo('DNSProvider')
      .extend({
        kind: z
          .enum(['DNSProvider', 'ClusterDNSProvider'])
          .default('DNSProvider')
          .describe(
            'DNSProvider: of the same namespace. ClusterDNSProvider: of the cluster, if it allows this namespace.',
          ),
        name: referenceTo('DNSProvider').shape.name.describe('Name of the provider.'),
      })
      .optional()
      .describe('The DNS account to write with.'),
    conflictPolicy: z
      .enum(['Fail', 'Adopt', 'Overwrite'])
      .default('Fail')
      .describe(
        'What to do with an existing different record of another owner. Fail: leave it and report it. Adopt: replace it if it has the same purpose, and never delete it. Overwrite: replace it and treat it as ours.',
      ),
    records: z
      .object({
        verification: kept('The ownership record.'),
        dkim: kept('The DKIM key records.'),
        spf: kept('The SPF record.'),
        dmarc: kept('The DMARC record.'),
        returnPath: kept('The records of the return path at bounce.<domain>, in either form.'),
        tracking: kept('The CNAME of tracked links, links.<domain>.'),
        address: kept('Address records of the sending host, where the account holds their zone.'),
      })
      .prefault({})
      .describe('Which records the operator writes and keeps, with managementPolicy Manage.'),
    ttlSeconds: z
      .int()
      .min(60)
      .max(86_400)
      .default(600)
      .describe('How long new records may be cached; raised to the least that the provider takes.'),
  }),
  {
    rule: "self.managementPolicy != 'Manage' || has(self.providerRef)",
    message: 'managementPolicy Manage needs a providerRef',
    fieldPath: '.providerRef',
    reason: 'FieldValueRequired',
  },
  {
    rule: "self.managementPolicy != 'DNSEndpoint' || !has(self.providerRef)",
    message: 'managementPolicy DNSEndpoint has no providerRef: external-dns writes the records',
    fieldPath: '.providerRef',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "self.managementPolicy != 'DNSEndpoint' || self.conflictPolicy == 'Fail'",
    message: 'managementPolicy DNSEndpoint needs conflictPolicy Fail: external-dns replaces whole record sets',
    fieldPath: '.conflictPolicy',
    reason: 'FieldValueInvalid',
  },
  {
    rule: "!has(self.dnsEndpoint) || self.managementPolicy == 'DNSEndpoint'",
    message: 'dnsEndpoint belongs to managementPolicy DNSEndpoint',
    fieldPath: '.dnsEndpoint',
    reason: 'FieldValueForbidden',
  },
)

const spec = withRules(
  z.object({
    domainName: immutable(domainName, 'domainName').describe(
      'The domain in the From address, lower case; international names in their xn-- form.',
    ),
    owner: withRules(
      z.object({
        username: immutable(z.string().min(1).max(128), 'owner.username').describe('Name of an existing account.'),
      }),
    )
      .optional()
      .describe(
        'Account that owns the domain; default is the account of the namespace, k8s-<namespace>. Any other needs the annotation postwright.dev/owners on the Namespace.',
      ),
    dns: dns.prefault({ managementPolicy: 'Observe' }).describe('DNS records of the domain.'),
    dkim: z
      .object({
        rotationIntervalDays: z
          .int()
          .min(0)
          .max(3650)
          .default(0)
          .describe('Days until a new key takes over; 0 means only on demand.'),
      })
      .prefault({})
      .describe('The DKIM key that signs mail, and its rotation.'),
    spf: withRules(
      z.object({
        includes: setOf(domainName, 10).prefault([]).describe('Domains of other senders to keep allowed (`include:`).'),
        mechanisms: setOf(
          z
            .string()
            .min(3)
            .max(258)
            .regex(/^(include|ip4|ip6|a|mx|exists):[!-~]+$/),
          10,
        )
          .prefault([])
          .describe('Other mechanisms to keep allowed, as in `ip4:192.0.2.0/24` or `mx:example.net`.'),
        all: z
          .enum(['~all', '-all'])
          .default('~all')
          .describe(
            'Rule of a new record for all other senders: ~all marks their mail, -all fails it. An existing record keeps its own.',
          ),
      }),
      {
        rule: '(has(self.includes) ? size(self.includes) : 0) + (has(self.mechanisms) ? size(self.mechanisms) : 0) <= 10',
        message: 'includes and mechanisms are at most 10 together',
        reason: 'FieldValueInvalid',
      },
    )
      .prefault({})
      .describe('The SPF record.'),
    dmarc: z
      .object({
        policy: z
          .enum(['none', 'quarantine', 'reject'])
          .default('none')
          .describe('What receivers do with mail that fails.'),
        rua: setOf(
          z
            .string()
            .min(3)
            .max(254)
            .regex(/^[^@\s]+@[^@\s]+$/),
          5,
        )
          .prefault([])
          .describe('Addresses that get aggregate reports.'),
      })
      .prefault({})
      .describe('The DMARC record.'),
    returnPath: z
      .enum(['Own', 'Shared', 'Off'])
      .default('Own')
      .describe(
        'Envelope sender of its mail, where the installation takes reports about deliveries. Own: an address at bounce.<domain> once its records are verified. Shared: at the domain of the installation. Off: as submitted.',
      ),
    returnPathRecords: z
      .enum(['CNAME', 'MX'])
      .default('CNAME')
      .describe(
        'Records of an own return path at bounce.<domain>. CNAME: one alias. MX: an MX and an SPF record, for DNS providers that refuse a CNAME there and for names that have other records. A check accepts either form.',
      ),
    tracking: z
      .object({
        opens: z.boolean().default(false).describe('Put an image into HTML that shows that a message was opened.'),
        clicks: z.boolean().default(false).describe('Lead links in HTML through links.<domain>.'),
      })
      .prefault({})
      .describe('What of its mail is tracked. Laws may ask for the consent of recipients.'),
    delivery: z
      .enum(['Live', 'Capture', 'Redirect'])
      .optional()
      .describe(
        'Where its mail goes; without it as the domain has it, which is Live for a new one. Live: to its recipients. Capture: into the inbox of the domain, and nowhere else; such a domain sends without verification. Redirect: to redirectTo in place of its recipients.',
      ),
    redirectTo: z
      .string()
      .min(3)
      .max(254)
      .regex(/^[!-~]+@[!-~]+$/)
      .optional()
      .describe('The address that gets all mail of the domain, with delivery Redirect.'),
    sendingLimits: sendingLimitsField('the domain'),
    suspended: z.boolean().default(false).describe('Stops accepting mail from this domain within seconds.'),
    deletionPolicy: z
      .object({
        dns: z
          .enum(['Delete', 'Retain'])
          .default('Delete')
          .describe('Delete: remove the records that the operator wrote. Retain: leave them.'),
        domain: z
          .enum(['Delete', 'Retain'])
          .default('Retain')
          .describe('Retain: the domain stays with its account. Delete: it goes, with its key.'),
        sending: z
          .enum(['Suspend', 'Continue'])
          .default('Suspend')
          .describe(
            'With domain Retain. Suspend: mail of the domain is refused at once, until a resource declares it again. Continue: its account may go on sending, also without the records.',
          ),
      })
      .prefault({})
      .describe('What happens when this resource is deleted.'),
  }),
  presenceIsFixed('owner'),
  {
    rule: "(has(self.delivery) && self.delivery == 'Redirect') == has(self.redirectTo)",
    message: 'redirectTo is needed with delivery Redirect, and only then',
    fieldPath: '.redirectTo',
    reason: 'FieldValueInvalid',
  },
)

const record = z
  .object({
    purpose: z
      .string()
      .max(32)
      .describe(
        'What the record is for: ownership, dkim, spf, dmarc, return_path, return_path_mx, return_path_spf, tracking, a or ptr.',
      ),
    name: z.string().max(253).describe('Name of the record.'),
    type: z.string().max(8).describe('Type of the record.'),
    state: z
      .enum(['Synced', 'Missing', 'Mismatch', 'Conflict', 'Guidance', 'Unknown'])
      .describe('How public DNS, or the provider, compares with what is expected.'),
    expected: z.string().max(1024).describe('Desired value.'),
    message: z.string().max(2048).optional().describe('What is wrong.'),
  })
  .describe('An expected DNS entry, and how it compares.')

const status = z.object({
  ...statusFields,
  domainId: z.string().max(64).optional().describe('Identifier of the domain in the API.'),
  owner: z.string().max(128).optional().describe('Account that owns the domain.'),
  activeSelector: z.string().max(63).optional().describe('DKIM selector that signs.'),
  records: mapOf(record, 64, ['purpose', 'name', 'type']).optional().describe('The DNS records and their state.'),
  lastCheckTime: time.optional().describe('When public DNS was last looked up.'),
  nextCheckTime: time.optional().describe('When it is looked up next.'),
  dnsRevision: z.string().max(32).optional().describe('Identifies the set of records that was last written.'),
  failedAttempts: z.int().min(0).optional().describe('Failed tries in a row to write at the provider.'),
  nextAttemptTime: time.optional().describe('When the next try is made.'),
  waitingSince: time.optional().describe('Since when records of the DNSEndpoint wait for external-dns.'),
})

/** A sending domain. */
export const MailDomain = defineKind({
  kind: 'MailDomain',
  plural: 'maildomains',
  shortNames: ['mdom'],
  formerVersions: FORMER_VERSIONS,
  description:
    'A domain that sends mail: registered for its owner, with a DKIM key, its DNS records written or observed, verified and kept from drifting.',
  spec,
  status,
  columns: [
    { name: 'Domain', type: 'string', jsonPath: '.spec.domainName' },
    { name: 'Verified', type: 'string', jsonPath: '.status.conditions[?(@.type=="Verified")].status' },
    { name: 'DNSSynced', type: 'string', jsonPath: '.status.conditions[?(@.type=="DNSSynced")].status' },
    {
      name: 'Authenticated',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Authenticated")].status',
      priority: 1,
    },
    { name: 'Delivery', type: 'string', jsonPath: '.spec.delivery', priority: 1 },
    { name: 'Provider', type: 'string', jsonPath: '.spec.dns.providerRef.name', priority: 1 },
    ...READY_COLUMNS,
  ],
})
/** Parsed MailDomain. */
export type MailDomain = ReturnType<typeof MailDomain.parse>
