/** Delivery status parts (RFC 3464), as they are really sent: fields without types, groups without empty lines. */
import { unlabelledDecoder } from '../../message/charset.ts'
import { contentOf, type MimePart } from '../../message/mime-reader.ts'
import type { ReportedAction, ReportedRecipient } from './report.ts'
import {
  diagnosticOf,
  type Field,
  firstValue,
  readFields,
  recipientOf,
  statusIn,
  withoutType,
} from './report-fields.ts'

const TYPES = new Set(['message/delivery-status', 'message/global-delivery-status'])
const ACTIONS: readonly ReportedAction[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']
/** A report of ours has at most as many recipients as a transaction. */
const MAX_RECIPIENTS = 1_000
const MAX_OCTETS = 1024 * 1024

/** True for a part that has the status of recipients in fields. */
export function isDeliveryStatus({ type }: MimePart): boolean {
  return TYPES.has(type)
}

/** True for the same fields in a part of another type, as gateways make it of parts that they do not know. */
export function looksLikeDeliveryStatus(part: MimePart): boolean {
  if (part.type !== 'text/plain' && part.type !== 'application/octet-stream') return false
  const start = contentOf({ ...part, body: part.body.slice(0, 20_000) }).toString('latin1')
  return /^(?:Final|Original)-Recipient:/im.test(start) && /^(?:Action|Status):/im.test(start)
}

/** The recipients of a delivery status part; empty when it has none. */
export function readDeliveryStatus(part: MimePart): ReportedRecipient[] {
  const octets = contentOf({ ...part, body: part.body.slice(0, 2 * MAX_OCTETS) }).subarray(0, MAX_OCTETS)
  const text = unlabelledDecoder(octets, octets, part.parameters.get('charset'))(octets)
  const groups = text
    .split(/\r?\n(?:[ \t]*\r?\n)+/, 2 * MAX_RECIPIENTS)
    .flatMap(block => perRecipient(readFields(block)))
  return groups.slice(0, MAX_RECIPIENTS).map(toRecipient)
}

/** The groups of a block that are about a recipient: a name that comes again begins the next one. */
function perRecipient(fields: readonly Field[]): Field[][] {
  const groups: Field[][] = []
  let names = new Set<string>()
  for (const field of fields) {
    const [name] = field
    if (groups.length === 0 || (isAddressField(name) && names.has(name))) {
      groups.push([])
      names = new Set()
    }
    groups.at(-1)?.push(field)
    names.add(name)
  }
  return groups.filter(group => group.some(([name]) => isAddressField(name)))
}

function isAddressField(name: string): boolean {
  return name === 'final-recipient' || name === 'original-recipient'
}

function toRecipient(fields: readonly Field[]): ReportedRecipient {
  const finalRecipient = recipientOf(firstValue(fields, 'final-recipient'))
  const originalRecipient = recipientOf(firstValue(fields, 'original-recipient'))
  const status = statusIn(firstValue(fields, 'status'))
  const diagnostic = diagnosticOf(withoutType(firstValue(fields, 'diagnostic-code') ?? ''))
  const remoteMta = hostOf(firstValue(fields, 'remote-mta') ?? '')
  return {
    ...(finalRecipient && { finalRecipient }),
    ...(originalRecipient && { originalRecipient }),
    action: actionOf(firstValue(fields, 'action'), status, diagnostic),
    ...(status && { status }),
    ...(diagnostic && { diagnostic }),
    ...(remoteMta && { remoteMta }),
  }
}

/** The name without a type, a final dot, and the remarks that Gmail adds. */
function hostOf(value: string): string | undefined {
  return /^\[?([\w.:-]{1,253}?)[\].]*(?:[\s(]|$)/.exec(withoutType(value))?.[1]
}

/** What the report says, else what its codes say; without either it has failed, as a report is about something. */
function actionOf(value: string | undefined, status: string | undefined, diagnostic: string): ReportedAction {
  const said = ACTIONS.find(action => value?.toLowerCase().startsWith(action))
  if (said) return said
  const first = status?.[0] ?? /^\D{0,3}([245])\d\d\b/.exec(diagnostic)?.[1]
  return first === '4' ? 'delayed' : first === '2' ? 'delivered' : 'failed'
}
