/** Calls of the mail API, typed from the service's own contract: wrong names, bodies and answers do not compile. */
import type * as accounts from '../../accounts/http/accounts-contract.ts'
import type * as mail from '../../mail/http/contract.ts'
import { fillPath, request } from './fetch.ts'
import { operations } from './operations.ts'
import type { AnyInput, InputOf, OutputOf } from './typed.ts'

type Contract = typeof accounts & typeof mail

/** The name of an operation that the panel uses. */
export type Operation = keyof typeof operations

/** What an operation takes. */
export type Input<K extends Operation> = InputOf<Contract[K]>

/** What an operation answers. */
export type Output<K extends Operation> = OutputOf<Contract[K]>

/** Calls an operation of the mail API. */
export async function call<K extends Operation>(name: K, input: Input<K>, signal?: AbortSignal): Promise<Output<K>> {
  const [method = 'GET', template = ''] = operations[name].split(' ')
  const { params, query, body } = input as AnyInput
  const response = await request(fillPath(template, params), { method, query, body, signal })
  // The service answers only what the contract's schema accepts (its own tests prove it), so the cast is the contract.
  if (response.status === 204) return undefined as Output<K>
  return (await response.json()) as Output<K>
}
