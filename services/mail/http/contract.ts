/** The mail API: every operation under /api/v1 with its schemas, shared with the panel by type. */
export * from './access.ts'
export * from './dns-contract.ts'
export * from './dns-records-contract.ts'
export * from './domains-contract.ts'
export * from './emails-contract.ts'
export * from './reports-contract.ts'
export * from './smtp-credentials-contract.ts'
export * from './tokens-contract.ts'
