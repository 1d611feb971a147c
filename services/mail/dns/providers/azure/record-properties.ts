/** Record sets in the form of Azure DNS: a list of objects in a property for each type. */
import { z } from 'zod'
import { canonicalName } from '../../records/names.ts'
import { parseMx, quoteTxt, txtStrings } from '../../records/record.ts'
import type { RecordSet } from '../record-sets/record-set.ts'

/** The values of a set. Azure also accepts and returns the names of properties in lower case at the start. */
export const propertiesSchema = z.looseObject({
  TTL: z.number().default(0),
  metadata: z.record(z.string(), z.string()).nullish(),
  TXTRecords: z.array(z.object({ value: z.array(z.string()) })).nullish(),
  ARecords: z.array(z.object({ ipv4Address: z.string() })).nullish(),
  AAAARecords: z.array(z.object({ ipv6Address: z.string() })).nullish(),
  MXRecords: z.array(z.object({ preference: z.number(), exchange: z.string() })).nullish(),
  CNAMERecord: z.object({ cname: z.string() }).nullish(),
  targetResource: z.object({ id: z.string().nullish() }).nullish(),
})

export type RecordProperties = z.output<typeof propertiesSchema>

/** The values in presentation format. Each character-string of a TXT value stays as it is. */
export function valuesOf(type: string, properties: RecordProperties): string[] {
  switch (type) {
    case 'TXT':
      return (properties.TXTRecords ?? []).map(({ value }) => value.map(quoteTxt).join(' '))
    case 'A':
      return (properties.ARecords ?? []).map(({ ipv4Address }) => ipv4Address)
    case 'AAAA':
      return (properties.AAAARecords ?? []).map(({ ipv6Address }) => ipv6Address)
    case 'MX':
      return (properties.MXRecords ?? []).map(({ preference, exchange }) => `${preference} ${canonicalName(exchange)}.`)
    case 'CNAME':
      return properties.CNAMERecord ? [`${canonicalName(properties.CNAMERecord.cname)}.`] : []
    default:
      // Only that there is something at the name matters.
      return [type]
  }
}

/** The inverse of {@link valuesOf}; metadata stays. */
export function toProperties({ type, ttl, values }: RecordSet, metadata: RecordProperties['metadata']): object {
  return { TTL: ttl, ...(metadata ? { metadata } : {}), ...recordsOf(type, values) }
}

function recordsOf(type: string, values: readonly string[]): object {
  switch (type) {
    case 'TXT':
      return { TXTRecords: values.map(value => ({ value: txtStrings(value) })) }
    case 'A':
      return { ARecords: values.map(ipv4Address => ({ ipv4Address })) }
    case 'AAAA':
      return { AAAARecords: values.map(ipv6Address => ({ ipv6Address })) }
    case 'MX':
      return {
        MXRecords: values.map(parseMx).map(({ preference, host }) => ({ preference, exchange: host })),
      }
    default:
      return { CNAMERecord: { cname: canonicalName(values[0] ?? '') } }
  }
}
