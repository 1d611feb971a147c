/** The Subscription Administration API, the API of back ends of apps (`/server`), and OFREP: one function for each operation. */
export * from './generated/subscriptions.ts'
export type * from './generated/subscriptions-types.ts'
export { type Client, type ClientOptions, createClient } from './runtime/client.ts'
export { type FieldProblem, PostwrightError, type PostwrightErrorCode } from './runtime/errors.ts'
export type { CallOptions, Input, Operation, ResultOf } from './runtime/operation.ts'
export { eachPage } from './runtime/pages.ts'
