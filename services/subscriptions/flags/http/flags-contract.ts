/** Operations on feature switches. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { EDIT, VIEW } from '../../http/shared/access.ts'
import { appKey, revision, search, version } from '../../http/shared/contract-fields.ts'
import { revisions } from '../../http/shared/wire-values.ts'
import { pageQuery } from '../../rules/paging.ts'
import { switchFields, switchName } from '../rules/flag-spec.ts'
import { SWITCH_TYPES } from '../rules/flag-value.ts'
import { switchList, switchMetadata, switchRecord } from './switch-schemas.ts'

/** Body limit in bytes: a value has up to 64 KiB, and rules and schedules have values of their own. */
const LARGE_BYTES = 1024 * 1024

/** Reads switches. */
export const readSwitches = endpoint({
  operationId: 'readSwitches',
  tag: 'Switches',
  method: 'GET',
  path: '/switch_manage',
  summary: 'Switches of an app; with name one of them, with action the types, the metadata or the history of one.',
  access: VIEW,
  example: { query: { app_key: 'demo' } },
  query: z.object({
    app_key: appKey,
    action: z.enum(['list', 'get', 'types', 'metadata', 'history']).optional(),
    name: z.string().trim().max(200).optional(),
    search,
    type: z.enum(SWITCH_TYPES).optional(),
    ...pageQuery,
  }),
  response: z.union([switchList, switchRecord, switchMetadata, revisions]),
})
const listAfterwards = { search, type: z.enum(SWITCH_TYPES).optional(), ...pageQuery }
/** Creates a switch. */
export const createSwitchOperation = endpoint({
  operationId: 'createSwitch',
  tag: 'Switches',
  method: 'POST',
  path: '/switch_manage',
  summary: 'Creates a switch and gives the list after it, the new one first.',
  access: EDIT,
  example: {
    query: { app_key: 'demo' },
    body: { name: 'new-editor', type: 'boolean', value: '1', client_visible: '1', rollout: 20 },
  },
  query: z.object({ app_key: appKey, ...listAfterwards }),
  body: z.object({
    ...switchFields,
    name: switchName,
    type: switchFields.type.unwrap(),
    value: switchFields.value.unwrap(),
  }),
  bodyBytes: LARGE_BYTES,
  response: switchList,
})
/** Changes a switch. */
export const updateSwitchOperation = endpoint({
  operationId: 'updateSwitch',
  tag: 'Switches',
  method: 'PUT',
  path: '/switch_manage',
  summary: 'Changes a switch and gives the list after it, the changed one first.',
  access: EDIT,
  example: { query: { app_key: 'demo', name: 'dark-mode' }, body: { enabled: '1', rollout: 50 } },
  query: z.object({ app_key: appKey, name: z.string().min(1).trim(), ...listAfterwards }),
  body: z.object({ ...switchFields, version }),
  bodyBytes: LARGE_BYTES,
  response: switchList,
})
/** Deletes a switch. */
export const deleteSwitchOperation = endpoint({
  operationId: 'deleteSwitch',
  tag: 'Switches',
  method: 'DELETE',
  path: '/switch_manage',
  summary: 'Deletes a switch and gives the list after it; it can be restored for 30 days.',
  access: EDIT,
  example: { query: { app_key: 'demo', name: 'dark-mode' } },
  query: z.object({ app_key: appKey, name: z.string().min(1).trim(), ...listAfterwards }),
  response: switchList,
})
/** Restores a switch. */
export const restoreSwitchOperation = endpoint({
  operationId: 'restoreSwitch',
  tag: 'Switches',
  method: 'POST',
  path: '/switch_manage/restore',
  summary: 'Puts a switch, also a deleted one, back into a former state.',
  access: EDIT,
  example: { query: { app_key: 'demo' }, body: { name: 'dark-mode', revision: 1 } },
  query: z.object({ app_key: appKey }),
  body: revision.extend({ name: switchName }),
  response: switchRecord,
})
