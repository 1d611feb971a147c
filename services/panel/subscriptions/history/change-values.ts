/** Values of changed fields as people read them: dates, amounts, states. The log stores what the database stores. */
import type { TFunction } from 'i18next'
import { exactTime } from '../../ui/values/time.tsx'
import { isUnpaid } from '../shared/payment-id.ts'

/** Fields that hold Unix seconds. 0 is no time but "permanent". */
const SECONDS = new Set(['start', 'end', 'lapse_at', 'previous_end', 'ended_at', 'since'])
/** Fields that hold yes or no as a digit. */
const FLAGS = new Set(['enabled', 'client_visible', 'auto_renew', 'require_signature', 'current', 'trial'])
const DIGITS = new Set(['0', '1'])
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
/** Longest shown text, in characters. */
const MAX_TEXT = 80

/** How times are written: language and time zone of the reader. */
type Reader = Parameters<typeof exactTime>[1]

/** The value of a field of a record (`user`, `plan` …). */
export function changeValue(kind: string, field: string, value: unknown, reader: Reader, t: TFunction): string {
  if (value === null || value === undefined || value === '') return '–'
  if (SECONDS.has(field) && typeof value === 'number')
    return value === 0 ? t('subs.permanent') : exactTime(value * 1000, reader)
  if (typeof value === 'string' && INSTANT.test(value)) return exactTime(value, reader)
  if (field.endsWith('_cents') && typeof value === 'number') return `¥${(value / 100).toFixed(2)}`
  return cut(
    yesOrNo(field, value, t) ??
      nameOf(kind, field, value, t) ??
      statusText(kind, field, value, t) ??
      plainText(value, t),
  )
}

function yesOrNo(field: string, value: unknown, t: TFunction): string | undefined {
  const isDigit = FLAGS.has(field) && DIGITS.has(String(value))
  if (typeof value !== 'boolean' && !isDigit) return undefined
  return t(value === true || String(value) === '1' ? 'ui.yes' : 'ui.no')
}

/** Names of what the log stores as a code, a record or an id. */
function nameOf(kind: string, field: string, value: unknown, t: TFunction): string | undefined {
  const code = String(value)
  if (field === 'payment_id' && isUnpaid(code)) return '–'
  if (field === 'payment_method') return t(`subs.methods.${code as 'alipay'}`, { defaultValue: code })
  if (kind === 'credential' && field === 'kind') return t(`subs.keyKind.${code as 'secret'}`, { defaultValue: code })
  return field === 'plan' ? planName(value) : undefined
}

/** The name in the copy of a plan that a subscription has. */
function planName(value: unknown): string | undefined {
  const name: unknown = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** The id of the plan that a field names; undefined for other fields. */
export function planId(field: string, value: unknown): string | undefined {
  const id: unknown =
    field === 'plan' && typeof value === 'object' && value !== null && 'plan_id' in value ? value.plan_id : value
  const named = field === 'plan' || field === 'plan_id'
  return named && (typeof id === 'number' || typeof id === 'string') ? String(id) : undefined
}

function plainText(value: unknown, t: TFunction): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return t('subs.noEntries')
  const isTexts = Array.isArray(value) && value.every(entry => typeof entry === 'string')
  return isTexts ? value.join(', ') : JSON.stringify(value)
}

function statusText(kind: string, field: string, value: unknown, t: TFunction): string | undefined {
  if (field !== 'status') return undefined
  const code = String(value)
  if (kind === 'user') return t(`subs.userStatus.${code as '0'}`, { defaultValue: code })
  if (kind === 'subscription') return t(`subs.status.${code as '0'}`, { defaultValue: code })
  if (kind === 'plan') return t(code === '1' ? 'subs.forSale' : 'subs.notForSale')
  return code === '1' ? t('subs.on') : code === '0' ? t('subs.off') : undefined
}

/** In characters, so that none is cut in two. */
function cut(text: string): string {
  const characters = [...text]
  return characters.length > MAX_TEXT ? `${characters.slice(0, MAX_TEXT).join('')}…` : text
}

/** The name of a field; fields that only programs know keep theirs. */
export function fieldName(field: string, t: TFunction): string {
  return t(`subs.changeFields.${field as 'end'}`, { defaultValue: field })
}

/** What was done, as a sentence. */
export function actionName(action: string, t: TFunction): string {
  return t(`subs.actionNames.${action as 'user.update'}`, { defaultValue: action })
}
