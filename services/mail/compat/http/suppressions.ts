/** `/suppressions`. Streams are not known there: an address is removed from all of them. */
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import {
  changeSuppressionsOperation,
  createSuppressionOperation,
  deleteSuppressionOperation,
  getSuppressionOperation,
  listSuppressionsOperation,
} from '../../suppressions/http/suppressions-contract.ts'
import { ForeignError } from '../rules/foreign-error.ts'
import { defined, given } from '../rules/loose-input.ts'
import { reasonOfOrigin, toListedSuppression } from '../rules/suppression.ts'
import { addForeignRoutes, type ForeignDeps, type ForeignRequest } from './foreign-routes.ts'
import { listPage, pageOf } from './pages.ts'

/** Adds the addresses. */
export function addSuppressionRoutes(deps: ForeignDeps): void {
  addForeignRoutes(deps, [
    {
      ...{ method: 'POST', path: '/suppressions', operation: createSuppressionOperation, status: 201 },
      async handle({ body, own }) {
        const { id } = await own(createSuppressionOperation, { body: manual(given(body, ['email']).email) })
        return { object: 'suppression', id }
      },
    },
    {
      ...{ method: 'POST', path: '/suppressions/batch/add', operation: changeSuppressionsOperation },
      handle: addMany,
    },
    {
      ...{ method: 'POST', path: '/suppressions/batch/remove', operation: changeSuppressionsOperation },
      handle: removeMany,
    },
    {
      ...{ method: 'GET', path: '/suppressions', operation: listSuppressionsOperation },
      handle: request =>
        listPage(request, async page => {
          const query = defined({ ...page, reason: reasonOfOrigin(request.query.origin) })
          return pageOf(await request.own(listSuppressionsOperation, { query }), toListedSuppression)
        }),
    },
    {
      ...{ method: 'GET', path: '/suppressions/:id', operation: getSuppressionOperation },
      async handle(request) {
        const { params, own } = request
        const email = params.id?.includes('@') ? params.id : undefined
        const [found] = email === undefined ? [] : await entriesOf(request, email)
        const entry = found ?? (await own(getSuppressionOperation, { params: { id: params.id } }))
        return { object: 'suppression', ...toListedSuppression(entry) }
      },
    },
    {
      ...{ method: 'DELETE', path: '/suppressions/:id', operation: deleteSuppressionOperation },
      async handle(request) {
        const id = request.params.id ?? ''
        const removed = await remove(request, id)
        // As the own API answers it.
        if (!removed) await request.own(deleteSuppressionOperation, { params: { id } })
        return { object: 'suppression', id: removed ?? id, deleted: true }
      },
    },
  ])
}

function manual(email: unknown) {
  return defined({ email, reason: 'manual' as const })
}

async function addMany(request: ForeignRequest): Promise<object> {
  const { emails = [] } = given(request.body, ['emails'])
  const add = Array.isArray(emails) ? emails.map(manual) : emails
  await request.own(changeSuppressionsOperation, { body: { add } })
  const data: object[] = []
  for (const id of emails as readonly string[]) {
    const entry = mayRead(request) ? await request.own(getSuppressionOperation, { params: { id } }) : { id }
    data.push({ object: 'suppression', id: entry.id })
  }
  return { data }
}

/** Most entries of one request, as in the own API. */
const BATCH = 1_000

async function removeMany(request: ForeignRequest): Promise<object> {
  const { emails, ids } = given(request.body, ['emails', 'ids'])
  const keys: unknown = emails ?? ids
  if (!isTexts(keys) || (emails !== undefined && ids !== undefined) || keys.length > BATCH)
    throw new ForeignError(422, 'validation_error', sentence('compat.one_of'))
  const data: object[] = []
  for (const key of keys) {
    const id = await remove(request, key)
    data.push({ object: 'suppression', id: id ?? key, deleted: id !== undefined })
  }
  return { data }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string' && item !== '')
}

/** Removes an entry by its id, or all of an address; its id, or undefined when there is none. */
async function remove(request: ForeignRequest, key: string): Promise<string | undefined> {
  const { own } = request
  if (key.includes('@')) {
    const [first] = mayRead(request) ? await entriesOf(request, key) : []
    const { removed } = await own(changeSuppressionsOperation, { body: { remove: [key] } })
    return removed > 0 ? (first?.id ?? key) : undefined
  }
  try {
    await own(deleteSuppressionOperation, { params: { id: key } })
    return key
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'not_found') return undefined
    throw error
  }
}

/** Without this scope an answer has the address as the id, which every call takes as well. */
function mayRead({ principal }: ForeignRequest): boolean {
  return principal.scopes.includes('suppressions:read')
}

/** Those of an address, of every stream. */
async function entriesOf({ own }: ForeignRequest, email: string) {
  return (await own(listSuppressionsOperation, { query: { email } })).data
}
