/** The mail API: every operation under /api/v1 with its schemas, shared with the panel by type. */

export * from '../administration/http/administration-contract.ts'
export * from '../credentials/http/smtp-credentials-contract.ts'
export * from '../credentials/http/tokens-contract.ts'
export * from '../domains/http/dns-contract.ts'
export * from '../domains/http/dns-records-contract.ts'
export * from '../domains/http/domains-contract.ts'
export * from '../log/http/emails-contract.ts'
export * from '../log/http/reports-contract.ts'
export * from '../submission/http/send-contract.ts'
export * from './shared/access.ts'
