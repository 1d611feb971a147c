/** The operations on a domain's DNS: checks, zone file, plan and apply, DKIM keys; and on DNS accounts. */

import { z } from 'zod'
import { pageOf, pageQuery } from '../../../platform/cursor-pages.ts'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceCodes, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { dnsCredentials } from '../../dns/providers/rules/dns-credentials.ts'
import type { Access } from '../../http/shared/access.ts'
import { managedBy, recordParams } from '../../http/shared/records.ts'
import { dnsRecord, recordStatus } from './dns-records-contract.ts'
import { domainParams } from './domains-contract.ts'

const READ: Access = { kind: 'account', scope: 'domains:read' }
const WRITE: Access = { kind: 'account', scope: 'domains:write' }
const DNS: Access = { kind: 'account', scope: 'dns:write' }
const time = z.iso.datetime()
const texts = z.array(z.string())
const selectorParams = domainParams.extend({ selector: z.string().min(1).max(63) })

/** One DNS check. */
export const dnsCheck = z
  .strictObject({
    object: z.literal('dns_check'),
    id: z.string(),
    domain_id: z.string(),
    at: time,
    by: z.enum(['schedule', 'request']),
    outcome: z.enum(['verified', 'pending', 'failed', 'temporary']),
    /** What changed with it, as in `domain.verified`. */
    event: z.string().nullable(),
    records: z.array(
      dnsRecord.pick({
        id: true,
        status: true,
        observed: true,
        errors: true,
        errors_codes: true,
        warnings: true,
        warnings_codes: true,
        instructions: true,
        instructions_codes: true,
      }),
    ),
    /** Records whose status differs from that of the check before, by their ids. */
    changes: z.array(
      z.strictObject({
        record: z.string(),
        from: recordStatus.nullable(),
        to: z.enum([...recordStatus.options, 'removed']),
      }),
    ),
    errors: texts,
    errors_codes: sentenceCodes,
    ms: z.int(),
    queries: z.int(),
  })
  .meta({ id: 'DnsCheck' })

/** One step of a plan. */
export const planItem = z
  .strictObject({
    /** Id of the record in the domain's `records`. */
    record: z.string(),
    action: z.enum(['create', 'update', 'keep', 'delete', 'conflict', 'skip']),
    type: z.string(),
    name: z.string(),
    /** The record afterwards: of `keep`, the one that is there. */
    value: z.string(),
    ttl: z.int(),
    /** The value in DNS now. */
    before: z.string().nullable(),
    reason: z.string(),
    reason_code: sentenceCode,
    reason_params: sentenceParams,
    /** Kind of the conflict. */
    code: z.string().nullable(),
    /** Naming the record in `accept` replaces the value in DNS. */
    acceptable: z.boolean(),
    warnings: texts,
    warnings_codes: sentenceCodes,
  })
  .meta({ id: 'DnsPlanItem' })

const accept = z.array(z.string().max(128)).max(64).optional()

/** `POST /api/v1/domains/{id}/verify`. */
export const verifyDomainOperation = endpoint({
  operationId: 'verifyDomain',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains/{id}/verify',
  summary: 'Looks at DNS now and gives the result.',
  access: WRITE,
  params: domainParams,
  status: 202,
  response: dnsCheck,
})

/** `GET /api/v1/domains/{id}/checks`. */
export const listChecksOperation = endpoint({
  operationId: 'listDomainChecks',
  tag: 'Domains',
  method: 'GET',
  path: '/api/v1/domains/{id}/checks',
  summary: 'Lists the checks of a domain that were asked for or that changed something, newest first.',
  access: READ,
  params: domainParams,
  query: pageQuery,
  response: pageOf(dnsCheck),
})

/** `GET /api/v1/domains/{id}/zonefile`. */
export const zoneFileOperation = endpoint({
  operationId: 'getDomainZoneFile',
  tag: 'Domains',
  method: 'GET',
  path: '/api/v1/domains/{id}/zonefile',
  summary: 'The records of a domain as a zone file.',
  access: READ,
  params: domainParams,
  responseContent: { 'text/plain': { type: 'string' } },
})

/** `POST /api/v1/domains/{id}/dns/plan`. */
export const planDnsOperation = endpoint({
  operationId: 'planDomainDns',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains/{id}/dns/plan',
  summary: 'What one click would write at the DNS provider, with reasons; nothing is written.',
  access: DNS,
  example: { body: { accept: [] } },
  params: domainParams,
  body: z.strictObject({ accept }),
  response: z.strictObject({
    object: z.literal('dns_plan'),
    id: z.string(),
    items: z.array(planItem),
    warnings: texts,
    warnings_codes: sentenceCodes,
  }),
})

/** `POST /api/v1/domains/{id}/dns/apply`. */
export const applyDnsOperation = endpoint({
  operationId: 'applyDomainDns',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains/{id}/dns/apply',
  summary: 'One click: writes the records at the DNS provider. With plan_id only while that plan still holds.',
  access: DNS,
  example: { body: { accept: [] } },
  params: domainParams,
  body: z.strictObject({ plan_id: z.string().max(64).optional(), accept }),
  response: z.strictObject({
    object: z.literal('dns_result'),
    items: z.array(
      planItem.extend({
        status: z.enum(['done', 'kept', 'pending', 'failed', 'conflict', 'skipped', 'not_done']),
        message: z.string().nullable(),
        message_code: sentenceCode.nullable(),
        message_params: sentenceParams.nullable(),
      }),
    ),
    /** Why the rest was not tried. */
    stopped: z
      .strictObject({
        fault: z.string(),
        message: z.string(),
        message_code: sentenceCode,
        message_params: sentenceParams,
        retry_after: z.number().nullable(),
        permission: z.string().nullable(),
      })
      .nullable(),
    warnings: texts,
    warnings_codes: sentenceCodes,
  }),
})

/** A DKIM key with its life. */
export const dkimKey = z
  .strictObject({
    selector: z.string(),
    algorithm: z.enum(['rsa-sha256', 'ed25519-sha256']),
    state: z.enum(['pending', 'active', 'retiring', 'revoked']),
    public_key: z.string(),
    created_at: time,
    seen_at: time.nullable(),
    activated_at: time.nullable(),
    retired_at: time.nullable(),
    revoked_at: time.nullable(),
  })
  .meta({ id: 'DkimKey' })
const keys = z.strictObject({ object: z.literal('list'), data: z.array(dkimKey) })

/** `POST /api/v1/domains/{id}/dkim/rotate`. */
export const rotateDkimOperation = endpoint({
  operationId: 'rotateDkimKey',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains/{id}/dkim/rotate',
  summary: 'Adds a key, made here or brought along, which takes over once its record is visible everywhere.',
  access: WRITE,
  example: { body: { algorithm: 'ed25519-sha256' } },
  params: domainParams,
  body: z.strictObject({
    algorithm: z.enum(['rsa-sha256', 'ed25519-sha256']).optional(),
    selector: z
      .string()
      .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, reason('field.dns_label'))
      .optional(),
    /** PEM of a private key to import; never given back. */
    private_key: z.string().max(8_000).meta({ format: 'pem' }).optional(),
  }),
  status: 201,
  response: dkimKey,
})

/** `POST /api/v1/domains/{id}/dkim/{selector}/activate`. */
export const activateDkimOperation = endpoint({
  operationId: 'activateDkimKey',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains/{id}/dkim/{selector}/activate',
  summary: 'Lets a pending key whose record was seen sign now, without waiting for caches.',
  access: WRITE,
  params: selectorParams,
  response: keys,
})

/** `POST /api/v1/domains/{id}/dkim/{selector}/revoke`. */
export const revokeDkimOperation = endpoint({
  operationId: 'revokeDkimKey',
  tag: 'Domains',
  method: 'POST',
  path: '/api/v1/domains/{id}/dkim/{selector}/revoke',
  summary: 'Withdraws a key that does not sign: its record becomes an empty p=.',
  access: WRITE,
  params: selectorParams,
  response: keys,
})

/** A DNS account. Credentials are never given back. */
export const dnsAccount = z
  .strictObject({
    object: z.literal('dns_account'),
    id: z.string(),
    provider: z.enum(['cloudflare', 'aliyun', 'dnspod', 'rfc2136', 'webhook', 'route53', 'google', 'azure']),
    name: z.string(),
    tested: z.strictObject({
      at: time,
      ok: z.boolean(),
      zones: texts,
      message: z.string().nullable(),
      message_code: sentenceCode.nullable(),
      message_params: sentenceParams.nullable(),
    }),
    managed_by: managedBy.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'DnsAccount' })

/** `POST /api/v1/dns-accounts`. */
export const createDnsAccountOperation = endpoint({
  operationId: 'createDnsAccount',
  tag: 'DNS accounts',
  method: 'POST',
  path: '/api/v1/dns-accounts',
  summary: 'Stores credentials for a DNS provider after trying them; one account a provider.',
  access: DNS,
  example: { body: { provider: 'cloudflare', name: 'Cloudflare', credentials: { api_token: 'cf-token' } } },
  body: dnsCredentials,
  status: 201,
  response: dnsAccount,
})

/** `GET /api/v1/dns-accounts`. */
export const listDnsAccountsOperation = endpoint({
  operationId: 'listDnsAccounts',
  tag: 'DNS accounts',
  method: 'GET',
  path: '/api/v1/dns-accounts',
  summary: 'Lists the DNS accounts.',
  access: READ,
  response: z.strictObject({ object: z.literal('list'), data: z.array(dnsAccount), has_more: z.literal(false) }),
})

/** `GET /api/v1/dns-accounts/{id}`. */
export const getDnsAccountOperation = endpoint({
  operationId: 'getDnsAccount',
  tag: 'DNS accounts',
  method: 'GET',
  path: '/api/v1/dns-accounts/{id}',
  summary: 'One DNS account.',
  access: READ,
  params: recordParams,
  response: dnsAccount,
})

/** `PUT /api/v1/dns-accounts/{id}`. */
export const putDnsAccountOperation = endpoint({
  operationId: 'replaceDnsAccount',
  tag: 'DNS accounts',
  method: 'PUT',
  path: '/api/v1/dns-accounts/{id}',
  summary: 'Replaces the credentials after trying the new ones; the provider stays.',
  access: DNS,
  example: { body: { provider: 'cloudflare', name: 'Cloudflare', credentials: { api_token: 'cf-token' } } },
  params: recordParams,
  body: dnsCredentials,
  response: dnsAccount,
})

/** `DELETE /api/v1/dns-accounts/{id}`. */
export const deleteDnsAccountOperation = endpoint({
  operationId: 'deleteDnsAccount',
  tag: 'DNS accounts',
  method: 'DELETE',
  path: '/api/v1/dns-accounts/{id}',
  summary: 'Forgets the credentials; records stay, and domains that used the account are no longer managed.',
  access: DNS,
  params: recordParams,
  status: 204,
})

/** `POST /api/v1/dns-accounts/{id}/test`. */
export const testDnsAccountOperation = endpoint({
  operationId: 'testDnsAccount',
  tag: 'DNS accounts',
  method: 'POST',
  path: '/api/v1/dns-accounts/{id}/test',
  summary: 'Tries the stored credentials and lists the zones.',
  access: DNS,
  params: recordParams,
  response: dnsAccount,
})
