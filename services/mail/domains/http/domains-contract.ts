/** The operations on sending domains. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { searchField } from '../../../platform/http/search-field.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../../platform/ordered-pages.ts'
import type { Access } from '../../http/shared/access.ts'
import { managedBy, resourceState } from '../../http/shared/records.ts'
import { DELIVERY_MODES } from '../rules/delivery-mode.ts'
import { checkSummary, dnsRecord, dnsSettings, dnsSettingsChange, trackingSettings } from './dns-records-contract.ts'

const READ: Access = { kind: 'account', scope: 'domains:read' }
const WRITE: Access = { kind: 'account', scope: 'domains:write' }
const ADMIN: Access = { kind: 'admin' }
const time = z.iso.datetime()

/** Path parameter: the id of a domain or its name. */
export const domainParams = z.strictObject({ id: z.string().min(1).max(255) })

/** A receiver that refuses mail of a domain because it cannot authenticate the sender. */
const authenticationRefusal = z
  .strictObject({
    /** A provider, such as `google`, or the domain of the recipient. */
    site: z.string(),
    smtp_code: z.number().int().nullable(),
    enhanced_code: z.string().nullable(),
    /** The latest reply. */
    reply: z.string(),
    /** What to do. */
    advice: z.string(),
    advice_code: sentenceCode,
    advice_params: sentenceParams,
    last_24_hours: z.number().int(),
    last_7_days: z.number().int(),
    last_at: time,
  })
  .meta({ id: 'AuthenticationRefusal' })

/** A sending domain. */
export const domain = z
  .strictObject({
    object: z.literal('domain'),
    id: z.string(),
    name: z.string(),
    user_id: z.string(),
    status: z.enum(['pending', 'verified', 'failed', 'suspended']),
    /** How it came to be verified. */
    verified_by: z.enum(['dns', 'admin', 'sandbox']).nullable(),
    verified_at: time.nullable(),
    /** Whether a message from it would be accepted now. */
    may_send: z.boolean(),
    dkim: z.array(
      z.strictObject({
        selector: z.string(),
        algorithm: z.enum(['rsa-sha256', 'ed25519-sha256']),
        state: z.enum(['pending', 'active', 'retiring', 'revoked']),
        public_key: z.string(),
        created_at: time,
        /** Since when every name server gives its record. */
        seen_at: time.nullable(),
      }),
    ),
    dns_account_id: z.string().nullable(),
    /** What to publish, each with the verdict of the last check. */
    records: z.array(dnsRecord),
    dns: dnsSettings,
    tracking: trackingSettings,
    delivery: z
      .enum(DELIVERY_MODES)
      .describe('`live`: to its recipients. `capture`: into its inbox. `redirect`: to one address in place of them.'),
    redirect_to: z.string().nullable().describe('The address that gets all of its mail, with `redirect`.'),
    check: checkSummary.nullable(),
    /** Receivers that refused its mail lately because they could not authenticate the sender; latest first. */
    authentication_refusals: z.array(authenticationRefusal).max(20),
    managed_by: managedBy.nullable(),
    /** State of the resource that manages it; null for domains of people. */
    resource: resourceState.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Domain' })

/** `POST /api/v1/domains`. */
export const createDomainOperation = endpoint({
  operationId: 'createDomain',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains',
  summary: 'Claims a sending domain and makes its DKIM key.',
  access: WRITE,
  example: { body: { name: 'example.org' } },
  body: z.strictObject({ name: z.string().min(1).max(255).meta({ format: 'idn-hostname' }) }),
  status: 201,
  response: domain,
})

/** By time, or by name within an account: over all accounts, the index of names has what was registered twice. */
export const DOMAIN_ORDERS = listOrders('asc', { created_at: ['_id'], name: ['name'] })
export const ALL_DOMAIN_ORDERS = listOrders('asc', { created_at: ['_id'] })

const search = searchField.optional().describe('Part of the name of a domain.')

/** `GET /api/v1/domains`. */
export const listDomainsOperation = endpoint({
  operationId: 'listDomains',
  tag: 'Domains',
  method: 'GET',
  path: '/api/v1/domains',
  summary: 'Lists the sending domains of the account, oldest first unless another order is asked for.',
  access: READ,
  query: orderedPageQuery(DOMAIN_ORDERS, { search }),
  response: orderedPageOf(domain),
})

/** `GET /api/v1/domains/{id}`. */
export const getDomainOperation = endpoint({
  operationId: 'getDomain',
  tag: 'Domains',
  method: 'GET',
  path: '/api/v1/domains/{id}',
  summary: 'One sending domain, by id or name.',
  access: READ,
  params: domainParams,
  response: domain,
})

/** `PATCH /api/v1/domains/{id}`. */
export const patchDomainOperation = endpoint({
  operationId: 'updateDomain',
  tag: 'Domains',
  method: 'PATCH',
  path: '/api/v1/domains/{id}',
  summary:
    'Binds a sending domain to a DNS account, or to none with null; chooses how its records are kept, what of its mail is tracked and where its mail goes.',
  access: WRITE,
  example: { body: { dns: { dmarc: { policy: 'quarantine', rua: ['dmarc@example.com'] }, dkim_rotation_days: 180 } } },
  params: domainParams,
  body: z.strictObject({
    dns_account_id: z.string().min(1).max(128).nullable().optional(),
    dns: dnsSettingsChange.optional(),
    tracking: trackingSettings.partial().optional(),
    delivery: z.enum(DELIVERY_MODES).optional(),
    redirect_to: z.string().min(3).max(254).nullable().optional(),
  }),
  response: domain,
})

/** `DELETE /api/v1/domains/{id}`. */
export const deleteDomainOperation = endpoint({
  operationId: 'deleteDomain',
  tag: 'Domains',
  method: 'DELETE',
  path: '/api/v1/domains/{id}',
  summary: 'Gives a sending domain up. The records that we wrote are taken back first, unless dns=keep.',
  access: WRITE,
  params: domainParams,
  query: z.strictObject({ dns: z.enum(['remove', 'keep']).default('remove') }),
  status: 204,
})

/** `GET /api/v1/admin/domains`. */
export const listAllDomainsOperation = endpoint({
  operationId: 'listAllDomains',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/domains',
  summary:
    'Lists the sending domains of all accounts, or of one with user_id; oldest first unless another order is asked for.',
  access: ADMIN,
  query: orderedPageQuery(ALL_DOMAIN_ORDERS, { user_id: z.string().min(1).max(128).optional(), search }),
  response: orderedPageOf(domain),
})

/** `POST /api/v1/admin/domains/{id}/verify`. */
export const verifyByAdminOperation = endpoint({
  operationId: 'markDomainVerified',
  tag: 'Operator',
  method: 'POST',
  path: '/api/v1/admin/domains/{id}/verify',
  summary: 'Marks a domain verified without looking at DNS; it is shown as such.',
  access: ADMIN,
  params: domainParams,
  response: domain,
})
