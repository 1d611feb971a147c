/** Evaluation of switches for one user, for administrators: by the rules of OFREP, with the reason. */
import type Router from '@koa/router'
import { ProblemError } from '../../../platform/problems.ts'
import { allSwitches, findSwitch } from '../../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../../context.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { requireUser } from '../../people/manage-end-users.ts'
import { IDENTITIES } from '../../rules/end-user.ts'
import { secondsOf } from '../../rules/time-zone.ts'
import type { EndUserDoc } from '../../store/documents.ts'
import { mergeSwitch } from '../manage-flags.ts'
import { type Candidate, explain, UNSAVED_ID } from '../rules/explain-evaluation.ts'
import { NEW_SWITCH, type SwitchFields } from '../rules/flag-spec.ts'
import { evaluateSwitches } from './evaluation-contract.ts'

/** Mounts `POST /switch_manage/evaluate`. */
export function mountEvaluation(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindAdmin(router, deps, evaluateSwitches, async ({ body }, { appKey, lang }) => {
    const user =
      body.user_id === undefined ? undefined : await requireUser(subscriptions, appKey, { user_id: body.user_id })
    const context = { ...(user ? attributesOf(user) : {}), ...textOf(body.context ?? {}) }
    const { targetingKey, ...attributes } = context
    const who = { targetingKey: targetingKey || undefined, attributes }
    const candidates = await candidatesOf(subscriptions, appKey, body)
    const now = secondsOf(subscriptions.clock.now())
    return { context, switches: candidates.map(candidate => explain(candidate, who, now, lang)) }
  })
}

interface Asked {
  name?: string | undefined
  definition?: (SwitchFields & { name?: string | undefined }) | undefined
}

/** The switches to evaluate. Throws `switch_not_found` for a name without a switch and without a definition. */
async function candidatesOf(context: Subscriptions, appKey: string, asked: Asked): Promise<Candidate[]> {
  if (asked.definition) {
    const { name = asked.name ?? '', ...fields } = asked.definition
    const stored = name === '' ? undefined : await findSwitch(context.collections, appKey, name)
    return [{ _id: stored?._id ?? UNSAVED_ID, name, ...mergeSwitch(stored ?? NEW_SWITCH, fields) }]
  }
  if (asked.name === undefined) return allSwitches(context.collections, appKey)
  const stored = await findSwitch(context.collections, appKey, asked.name)
  if (!stored) throw new ProblemError('switch_not_found')
  return [stored]
}

const PROFILE = ['nickname', 'gender', 'country', 'province', 'city', 'phone', 'email', 'platform'] as const

/** What is known of a user, under the names of the API; apps may send others. Empty fields are absent. */
function attributesOf(user: EndUserDoc): Record<string, string> {
  const known = [...IDENTITIES, ...PROFILE].flatMap(name => (user[name] ? [[name, user[name]]] : []))
  return { targetingKey: String(user._id), user_id: String(user._id), ...Object.fromEntries(known) }
}

function textOf(given: Readonly<Record<string, string | number | boolean>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
}
