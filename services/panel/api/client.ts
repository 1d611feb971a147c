/** Typed client of the mail API, derived from the contracts of the service. */
import type * as accounts from '../../accounts/http/accounts-contract.ts'
import type * as mail from '../../mail/http/contract.ts'
import { loadAllTexts } from '../i18n/index.ts'
import { fillPath, request } from './fetch.ts'
import { operations } from './operations.ts'
import { ApiProblem } from './problem.ts'
import type { AnyInput, InputOf, OutputOf } from './typed.ts'

type Contract = typeof accounts & typeof mail

export type Operation = keyof typeof operations

export type Input<K extends Operation> = InputOf<Contract[K]>

export type Output<K extends Operation> = OutputOf<Contract[K]>

export async function call<K extends Operation>(name: K, input: Input<K>, signal?: AbortSignal): Promise<Output<K>> {
  const [method = 'GET', template = ''] = operations[name].split(' ')
  const { params, query, body } = input as AnyInput
  const response = await request(fillPath(template, params), { method, query, body, signal }).catch(loadItsText)
  // The tests of the service prove that its responses match the schema of the contract, so no validation is needed here.
  if (response.status === 204) return undefined as Output<K>
  return (await response.json()) as Output<K>
}

/** Loads the texts of problems, which first pages do without. That there is no session is shown nowhere. */
async function loadItsText(error: unknown): Promise<never> {
  const isShown = error instanceof ApiProblem && error.status !== 0 && error.code !== 'not_logged_in'
  if (isShown) await loadAllTexts().catch(() => undefined)
  throw error
}
