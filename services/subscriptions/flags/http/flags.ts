/** Operations on switches: one path, distinguished by `action` and `name`. */
import { createHash } from 'node:crypto'
import type Router from '@koa/router'
import { ProblemError } from '../../../platform/problems.ts'
import { viewRevisions } from '../../catalogue/http/revisions.ts'
import { allSwitches, findSwitch, listRevisions, listSwitches } from '../../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../../context.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { fieldError } from '../../rules/field-errors.ts'
import type { Lang } from '../../rules/language.ts'
import { type Page, switchPagination } from '../../rules/paging.ts'
import type { SwitchDoc } from '../../store/models.ts'
import { createSwitch, deleteSwitch, mergeSwitch, restoreSwitch, updateSwitch } from '../manage-flags.ts'
import { MAX_SWITCHES, NEW_SWITCH, SWITCH_NAME } from '../rules/flag-spec.ts'
import { MAX_LOGS, MAX_VALUE_BYTES, SWITCH_TYPES, type SwitchType } from '../rules/flag-value.ts'
import { describeTypes, stateOf, viewSwitch } from '../rules/flag-view.ts'
import {
  createSwitchOperation,
  deleteSwitchOperation,
  readSwitches,
  restoreSwitchOperation,
  updateSwitchOperation,
} from './flags-contract.ts'

interface ListQuery {
  search?: string | undefined
  type?: SwitchType | undefined
  page?: number | undefined
  pageSize?: number | undefined
  page_size?: number | undefined
}

/** Mounts the operations on switches. */
export function mountSwitches(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const view = (stored: SwitchDoc, lang: Lang) =>
    viewSwitch(stored, { lang, zone: subscriptions.zone, now: subscriptions.clock.now() })
  const list = async (appKey: string, query: ListQuery, lang: Lang) => {
    const page: Page = requestedPage(query)
    const found = await listSwitches(subscriptions.collections, appKey, query, page)
    return {
      switches: found.items.map(stored => view(stored, lang)),
      pagination: switchPagination(page, found.total),
      filters: { search: query.search ?? '', type: query.type ?? '' },
    }
  }
  const requireOne = async (appKey: string, name: string) => {
    const stored = await findSwitch(subscriptions.collections, appKey, name)
    if (!stored) throw new ProblemError('switch_not_found')
    return stored
  }
  bindAdmin(router, deps, readSwitches, async ({ query }, { appKey, lang }) => {
    const action = query.action ?? (query.name === undefined ? 'list' : 'get')
    if (action === 'types') return { ...(await list(appKey, query, lang)), types: describeTypes(lang) }
    if (action === 'metadata') return metadata(subscriptions, await allSwitches(subscriptions.collections, appKey))
    if (action === 'list') return list(appKey, query, lang)
    if (query.name === undefined)
      throw new ProblemError('validation_failed', undefined, { errors: [fieldError('name', 'required')] })
    if (action === 'get') return view(await requireOne(appKey, query.name), lang)
    return viewRevisions(
      await listRevisions(subscriptions.collections, appKey, 'switch', query.name),
      subscriptions.zone,
    )
  })
  bindAdmin(router, deps, createSwitchOperation, async ({ query, body }, { appKey, actor, lang }) => {
    const { name, ...fields } = body
    await createSwitch(subscriptions, actor, { appKey, name }, mergeSwitch(NEW_SWITCH, fields))
    return list(appKey, query, lang)
  })
  bindAdmin(router, deps, updateSwitchOperation, async ({ query, body }, { appKey, actor, lang }) => {
    const { version, ...fields } = body
    await updateSwitch(subscriptions, actor, { appKey, name: query.name }, fields, version)
    return list(appKey, query, lang)
  })
  bindAdmin(router, deps, deleteSwitchOperation, async ({ query }, { appKey, actor, lang }) => {
    await deleteSwitch(subscriptions, actor, { appKey, name: query.name })
    return list(appKey, query, lang)
  })
  bindAdmin(router, deps, restoreSwitchOperation, async ({ body }, { appKey, actor, lang }) =>
    view(await restoreSwitch(subscriptions, actor, { appKey, name: body.name }, body.revision), lang),
  )
}

function metadata(context: Subscriptions, switches: readonly SwitchDoc[]) {
  const last = switches.toSorted((a, b) => b.updated_at.getTime() - a.updated_at.getTime())[0]
  const states = switches.map(stateOf)
  const disabled = states.filter(state => state === 'killed' || state === 'off').length
  const etag = createHash('sha256').update(switches.map(({ _id, version }) => `${_id}.${version}`).join(' '))
  return {
    total: switches.length,
    enabled: switches.length - disabled,
    disabled,
    scheduled: switches.filter(({ schedules }) => schedules.length > 0).length,
    by_type: Object.fromEntries(
      SWITCH_TYPES.map(type => [type, switches.filter(stored => stored.type === type).length]),
    ),
    types: [...SWITCH_TYPES],
    limits: {
      name: 64,
      description: 500,
      value_bytes: MAX_VALUE_BYTES,
      switches_per_app: MAX_SWITCHES,
      logs: MAX_LOGS,
    },
    name_pattern: SWITCH_NAME.source,
    last_updated_at: last ? context.zone.format(last.updated_at) : '',
    last_updated_by: last?.updated_by ?? '',
    etag: `"${etag.digest('hex').slice(0, 32)}"`,
  }
}
