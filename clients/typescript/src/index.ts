/**
 * The mail API: one function for each operation, with the types of the contracts. The Subscription Administration API is
 * in `@postwright/client/subscriptions`.
 */
export * from './generated/mail.ts'
export type * from './generated/mail-types.ts'
export { type Client, type ClientOptions, createClient } from './runtime/client.ts'
export { type FieldProblem, PostwrightError, type PostwrightErrorCode } from './runtime/errors.ts'
export { type FollowOptions, followEvents, type MailEvent } from './runtime/events.ts'
export type { CallOptions, Input, Operation, ResultOf } from './runtime/operation.ts'
export { eachItem } from './runtime/pages.ts'
