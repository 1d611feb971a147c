/** End users: created and recognised by their app, disabled and erased by administrators. */

import { writeAsRead } from '../../platform/concurrency/retry.ts'
import { isDuplicateKey } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { record } from '../audit/record-change.ts'
import { forgetReasons } from '../audit/store/audit-log.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { addToCounters } from '../counters/running-counters.ts'
import { aboutUser, publishEvent } from '../events/publish-event.ts'
import { forgetUserInEvents } from '../events/store/webhooks.ts'
import { IDENTITIES, type Identities, type Profile, searchKeys } from '../rules/end-user.ts'
import type { EndUserDoc } from '../store/documents.ts'
import { changeUser, findByIdentities, findUser, insertUser, usersToErase } from './store/end-users.ts'

/** A login of a user as the app reports it. */
export interface UserLogin {
  identities: Identities
  profile: Profile
  ip?: string | undefined
  /** Whether the user receives mail before a subscription ends; undefined: unchanged. */
  reminderMail?: boolean | undefined
}

/** Time in which a user can withdraw a deletion request. */
const ERASE_AFTER_MS = 15 * DAY_MS
/**
 * Creates the user, or counts the login of the user that the identities name: exact openids first, then those that span
 * apps. Throws `identities_conflict` when they name two users.
 */
export async function upsertUser(
  context: Subscriptions,
  appKey: string,
  login: UserLogin,
): Promise<{ user: EndUserDoc; created: boolean }> {
  return writeAsRead(async () => {
    const known = pickUser(await findByIdentities(context.collections, appKey, login.identities), login.identities)
    const user = known ? await countLogin(context, known, login) : await createUser(context, appKey, login)
    return user && { user, created: !known }
  }, 'identities_conflict')
}

/** The user that an app names by id or identities. Throws `end_user_not_found`. */
export async function requireUser(
  context: Subscriptions,
  appKey: string,
  given: Identities & { user_id?: number | undefined },
): Promise<EndUserDoc> {
  const user =
    given.user_id === undefined
      ? pickUser(await findByIdentities(context.collections, appKey, given), given)
      : await findUser(context.collections, appKey, given.user_id)
  if (!user) throw new ProblemError('end_user_not_found')
  return user
}

/** Selects the user that is meant. Throws `identities_conflict` when several match. */
export function pickUser<U extends Pick<EndUserDoc, 'openid' | 'huawei_openid'>>(
  found: readonly U[],
  given: Identities,
): U | undefined {
  if (found.length <= 1) return found[0]
  const exact = found.filter(
    user =>
      (given.openid !== undefined && user.openid === given.openid) ||
      (given.huawei_openid !== undefined && user.huawei_openid === given.huawei_openid),
  )
  if (exact.length === 1) return exact[0]
  throw new ProblemError('identities_conflict')
}

async function createUser(
  context: Subscriptions,
  appKey: string,
  { identities, profile, ip, reminderMail }: UserLogin,
): Promise<EndUserDoc | undefined> {
  const now = context.clock.now()
  const { phone, email, ...rest } = profile
  const user: EndUserDoc = {
    _id: await context.ids.next('user'),
    app_key: appKey,
    ...defined(identities),
    nickname: '',
    avatar: '',
    gender: '',
    country: '',
    province: '',
    city: '',
    platform: '',
    ...defined(rest),
    ...(phone ? { phone } : {}),
    ...(email ? { email } : {}),
    ...(reminderMail === false ? { no_reminders: true } : {}),
    status: '1',
    login_count: 1,
    last_login_at: now,
    ...(ip ? { last_login_ip: ip } : {}),
    search_keys: searchKeys(profile),
    created_at: now,
    updated_at: now,
  }
  if (!(await insertUser(context.collections, user))) return undefined
  await Promise.all([
    publishEvent(context, { appKey, type: 'user.created', data: aboutUser(user) }),
    addToCounters(context, appKey, {
      counters: { users_total: 1, users_active: 1 },
      today: { new_users: 1, login_users: 1 },
    }),
  ])
  return user
}

async function countLogin(
  context: Subscriptions,
  known: EndUserDoc,
  { identities, profile, ip, reminderMail }: UserLogin,
): Promise<EndUserDoc | undefined> {
  const now = context.clock.now()
  const gone = [...emptied(profile), ...(reminderMail === true ? (['no_reminders'] as const) : [])]
  const change = {
    // Known identities stay: the unionid of one developer joins several openids, and the record holds the first.
    ...Object.fromEntries(
      IDENTITIES.flatMap(name => (known[name] || !identities[name] ? [] : [[name, identities[name]]])),
    ),
    ...without(defined(profile), gone),
    ...(ip ? { last_login_ip: ip } : {}),
    ...(reminderMail === false ? { no_reminders: true as const } : {}),
    search_keys: searchKeys({ ...known, ...defined(profile) }),
    last_login_at: now,
    updated_at: now,
  }
  // A user erased in parallel is created again as a new one. The keys are computed from the record that was read.
  const { _id, app_key, search_keys } = known
  const match = { _id, app_key, search_keys, erased_at: { $exists: false } }
  const removal = gone.length === 0 ? {} : { $unset: Object.fromEntries(gone.map(name => [name, '' as const])) }
  const before = await orUndefinedOnDuplicate(
    changeUser(context.collections, match, { $set: change, $inc: { login_count: 1 }, ...removal }),
  )
  if (!before) return undefined
  const today = context.zone.day(now)
  const firstToday = !before.last_login_at || context.zone.day(before.last_login_at) < today
  if (firstToday) await addToCounters(context, app_key, { today: { login_users: 1 } })
  return without({ ...before, ...change, login_count: before.login_count + 1 }, gone)
}

/** Emptied contact fields are removed, because unknown ones have no field. */
function emptied(profile: Profile): ('phone' | 'email')[] {
  return (['phone', 'email'] as const).filter(name => profile[name] === '')
}

function without<T extends object, K extends PropertyKey>(fields: T, names: readonly K[]): Omit<T, K> {
  const gone: readonly PropertyKey[] = names
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !gone.includes(name))) as Omit<T, K>
}

/** Undefined also when a new identity was given to another user in parallel: the caller reads again. */
async function orUndefinedOnDuplicate(work: Promise<EndUserDoc | undefined>): Promise<EndUserDoc | undefined> {
  try {
    return await work
  } catch (error) {
    if (isDuplicateKey(error)) return undefined
    throw error
  }
}

/** Moves a user between normal (1), disabled (0) and deletion requested (2), and back. Throws `transition_refused`. */
export async function setUserStatus(
  context: Subscriptions,
  actor: Actor,
  match: { appKey: string; id: number },
  status: EndUserDoc['status'],
): Promise<EndUserDoc> {
  return moveUser(context, actor, await requireUser(context, match.appKey, { user_id: match.id }), status)
}

/** Throws `version_conflict` when the user has changed since, `transition_refused` when it was erased. */
async function moveUser(
  context: Subscriptions,
  actor: Actor,
  before: EndUserDoc,
  status: EndUserDoc['status'],
): Promise<EndUserDoc> {
  if (before.erased_at) throw new ProblemError('transition_refused')
  if (before.status === status) return before
  const now = context.clock.now()
  const { _id, app_key: appKey } = before
  const was_disabled = before.was_disabled ?? { $exists: false }
  const after = await record(context, actor, async session => {
    const changed = await changeUser(
      context.collections,
      { _id, app_key: appKey, status: before.status, was_disabled },
      {
        $set: { status, updated_at: now, ...(status === '2' ? wishOf(before, now) : {}) },
        ...(status === '2' ? {} : { $unset: { deletion_requested_at: '', was_disabled: '' } }),
      },
      session,
    )
    if (!changed) throw new ProblemError('version_conflict')
    const { deletion_requested_at: _, was_disabled: __, ...rest } = before
    const result: EndUserDoc = { ...rest, status, updated_at: now }
    return {
      result,
      event: {
        action: 'user.update',
        appKey,
        target: { kind: 'user', id: String(_id) },
        before,
        after: result,
      },
    }
  })
  await addToCounters(context, appKey, { counters: activeChange(before.status, status) })
  return after
}

/** Stored with a deletion request: whether the user was disabled, so that withdrawing it does not enable the user. */
function wishOf({ status }: EndUserDoc, now: Date) {
  return { deletion_requested_at: now, ...(status === '0' ? { was_disabled: true as const } : {}) }
}

/**
 * The deletion request of a user (2) or its withdrawal (1), which restores the previous status. Throws
 * `transition_refused` for a disabled user, whom only administrators enable again; `version_conflict` when the user is
 * disabled in parallel.
 */
export async function setDeletionWish(
  context: Subscriptions,
  actor: Actor,
  match: { appKey: string; id: number },
  wish: '1' | '2',
): Promise<EndUserDoc> {
  if (wish === '2') return setUserStatus(context, actor, match, '2')
  const before = await requireUser(context, match.appKey, { user_id: match.id })
  if (before.status === '0') throw new ProblemError('transition_refused', sentence('detail.user_disabled'))
  return moveUser(context, actor, before, before.was_disabled ? '0' : '1')
}

/** Erases personal data; the record and its payments stay. Repeating it changes nothing. */
export function eraseUser(context: Subscriptions, actor: Actor, match: { appKey: string; id: number }): Promise<void> {
  return erase(context, actor, match, () => true)
}

async function erase(
  context: Subscriptions,
  actor: Actor,
  { appKey, id }: { appKey: string; id: number },
  wanted: (user: EndUserDoc) => boolean,
): Promise<void> {
  await writeAsRead(async () => {
    const before = await findUser(context.collections, appKey, id)
    if (!before) throw new ProblemError('end_user_not_found')
    const isDone = before.erased_at !== undefined || !wanted(before)
    return isDone || (await eraseAsSeen(context, actor, before)) || undefined
  })
}

/** False when the user was changed or erased in parallel. */
async function eraseAsSeen(context: Subscriptions, actor: Actor, before: EndUserDoc): Promise<boolean> {
  const { _id, app_key: appKey, status } = before
  const now = context.clock.now()
  const blank = { ...BLANK, status: '0' as const, search_keys: [], erased_at: now, updated_at: now }
  const done = await record(context, actor, async session => {
    const match = { _id, app_key: appKey, status, erased_at: { $exists: false } }
    if (!(await changeUser(context.collections, match, { $set: blank, $unset: ERASED }, session)))
      return { result: false }
    await forgetUserInEvents(context.collections, appKey, _id, session)
    await forgetReasons(context.collections, appKey, _id, session)
    return { result: true, event: { action: 'user.erase', appKey, target: { kind: 'user', id: String(_id) } } }
  })
  if (done) await addToCounters(context, appKey, { counters: activeChange(status, '0') })
  return done
}

/**
 * Erases users whose deletion request is 15 days old; returns how many. A request withdrawn in parallel is respected.
 */
export async function eraseRequested(context: Subscriptions, actor: Actor): Promise<number> {
  const before = new Date(context.clock.now().getTime() - ERASE_AFTER_MS)
  const due = await usersToErase(context.collections, before, 1000)
  const isDue = (user: EndUserDoc) => user.deletion_requested_at !== undefined && user.deletion_requested_at <= before
  for (const user of due) await erase(context, actor, { appKey: user.app_key, id: user._id }, isDue)
  return due.length
}

const BLANK = { nickname: '', avatar: '', gender: '', country: '', province: '', city: '' }
const ERASED = {
  openid: '',
  unionid: '',
  huawei_openid: '',
  huawei_unionid: '',
  phone: '',
  email: '',
  last_login_ip: '',
  no_reminders: '',
  was_disabled: '',
  deletion_requested_at: '',
} as const

function activeChange(before: string, after: string): Record<string, number> {
  const change = Number(after === '1') - Number(before === '1')
  return change === 0 ? {} : { users_active: change }
}

/** Removes undefined fields, so that they keep their value. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
