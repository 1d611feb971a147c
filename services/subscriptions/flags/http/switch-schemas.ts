/** Feature switches on the wire. */
import { z } from 'zod'
import { count, dateTime, digits, flag } from '../../http/shared/wire-values.ts'

/** Pagination of switches. */
const switchPagination = z.object({ page: count, pageSize: count, total: count, totalPages: count })

const logEntry = z
  .object({
    version: z.string(),
    date: z.string(),
    title: z.string(),
    features: z.array(z.string()),
    improvements: z.array(z.string()),
    fixes: z.array(z.string()),
  })
  .meta({ id: 'ReleaseNote' })

/** A switch. */
export const switchRecord = z
  .object({
    id: digits,
    name: z.string(),
    description: z.string(),
    type: z.string(),
    value: z.object({ title: z.string(), logs: z.array(logEntry), test_json: z.string() }),
    raw_value: z.string(),
    enabled: flag,
    client_visible: flag,
    rollout: z.string(),
    rules: z.array(z.object({}).loose()),
    schedules: z.array(z.object({ at: digits }).loose()),
    version: digits,
    created_at: digits,
    updated_at: digits,
    created_by: z.string(),
    updated_by: z.string(),
    display_value: z.string(),
    status_class: z.enum(['success', 'warning', 'secondary', 'danger']),
    status_text: z.string(),
    created_at_formatted: dateTime,
    updated_at_formatted: dateTime,
    managed_by: z.string().optional(),
  })
  .meta({ id: 'Switch' })

/** A type of switches. */
const switchType = z
  .object({
    type: z.string(),
    name: z.string(),
    value_format: z.string(),
    example: z.string(),
    default: z.string(),
    client_kind: z.string(),
  })
  .meta({ id: 'SwitchType' })

/** A page of switches; `types` with action=types. */
export const switchList = z
  .object({
    switches: z.array(switchRecord),
    pagination: switchPagination,
    filters: z.object({ search: z.string(), type: z.string() }),
    types: z.array(switchType).optional(),
  })
  .meta({ id: 'SwitchList' })

/** Counts and limits of the switches of an app. */
export const switchMetadata = z
  .object({
    total: count,
    enabled: count,
    disabled: count,
    scheduled: count,
    by_type: z.record(z.string(), count),
    types: z.array(z.string()),
    limits: z.object({
      name: count,
      description: count,
      value_bytes: count,
      switches_per_app: count,
      logs: count,
    }),
    name_pattern: z.string(),
    last_updated_at: z.string(),
    last_updated_by: z.string(),
    etag: z.string(),
  })
  .meta({ id: 'SwitchMetadata' })
