/** Operations as functions: `generated/` declares one of these for each operation of an API. */
import type { Client } from './client.ts'
import { type RequestInput, request, type Traits } from './request.ts'

/** What every call can have besides the parameters of its operation. */
export interface CallOptions {
  /** Aborts the request, its repeats and the waits between them. */
  signal?: AbortSignal | undefined
  /** Called with each answer: for its header fields, such as ETag or `RateLimit-Remaining`. Must not read the body. */
  onResponse?: ((response: Response) => void) | undefined
}

/** For operations that accept Idempotency-Key: without one the client makes its own for the repeats of the call. */
export interface KeyOption {
  idempotencyKey?: string | undefined
}

/** Parameters of a call: those of the contract, and the options. */
export type Input<Data, Options = CallOptions> = {
  [Name in keyof Data as Name extends 'url' ? never : Name]: Name extends 'body' ? Body<Data[Name]> : Fields<Data[Name]>
} & Options

/** Where a file is sent, its bytes are accepted as well. */
type Body<Given> = Blob extends Given ? Given | Uint8Array<ArrayBuffer> : Given

/** Optional fields of path, query and header may be undefined: they are left out. */
type Fields<Given> = {
  [Name in keyof Given]: Record<never, never> extends Pick<Given, Name> ? Given[Name] | undefined : Given[Name]
}

/** Left out where nothing is required. */
export type Arguments<Given> = Record<never, never> extends Given ? [input?: Given] : [input: Given]

/** One operation of the API. Rejects with a {@link PostwrightError}, or the reason of `signal`. */
export type Operation<Given, Result> = (client: Client, ...args: Arguments<Given>) => Promise<Result>

/** The result of an operation. */
export type ResultOf<O> = O extends (client: Client, ...args: never[]) => Promise<infer Result> ? Result : never

/** With `dry_run` the answer is what would be sent. */
export interface SendingOperation<Given extends { query?: { dry_run?: unknown } }, Accepted, Preview> {
  (client: Client, input: Given & { query: { dry_run: '1' | 'true' } }): Promise<Preview>
  (client: Client, input: Given & { query?: { dry_run?: '0' | 'false' } }): Promise<Accepted>
}

/** Declares an operation; `target` is method and path. */
export function operation<O>(target: string, traits: Traits = {}): O {
  return ((client: Client, input: RequestInput = {}) => request(client, target, traits, input)) as O
}
