/** All operations of administrators except those on apps, in one module for clients. */

export * from '../audit/http/audit-contract.ts'
export * from '../catalogue/http/plans-contract.ts'
export * from '../flags/http/evaluation-contract.ts'
export * from '../flags/http/flags-contract.ts'
export * from '../kubernetes/http/resources-contract.ts'
export * from '../lifecycle/http/subscriptions-contract.ts'
export * from '../lifecycle/http/user-access-contract.ts'
export * from '../people/http/admins-contract.ts'
export * from '../people/http/end-users-contract.ts'
export * from '../people/http/session-contract.ts'
export * from '../reports/http/reports-contract.ts'
