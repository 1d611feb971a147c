/** Reads a report of either kind from a file as a person or a mail has it. */
import { isUtf8 } from 'node:buffer'
import { nextTurn } from '../../../platform/concurrency/event-loop-turns.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { JsonError } from '../../../platform/json/json-text.ts'
import { JsonReader } from '../../../platform/json/streaming-reader.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { DmarcReport } from '../rules/dmarc-report.ts'
import { MAX_FIELD_CHARS, MAX_RECORDS } from '../rules/report-limits.ts'
import { type ReportPeriod, refuseReport } from '../rules/report-values.ts'
import { type TlsReport, toTlsReport } from '../rules/tls-report.ts'
import { readDmarcXml } from './read-xml.ts'
import { unpackReport } from './unpack-report.ts'

/** A report of one of the two kinds. */
export type Report = DmarcReport | TlsReport

/** Older reports would be removed at once. */
export const REPORT_DAYS = 400
/** Reports cover a day; some reporters send one for a week. */
const MAX_PERIOD_MS = 31 * DAY_MS
/** Clocks of reporters may be wrong by this time. */
const FUTURE_MS = 2 * DAY_MS
const JSON_BOUNDS = { values: 10 * MAX_RECORDS, members: 100, depth: 12, text: MAX_FIELD_CHARS }
const TURN_BYTES = 64 * 1024

/** Unpacks, recognises and reads a report. Throws {@link ReportError}, whose sentence says what is wrong with it. */
export async function readReport(file: Buffer, now: number): Promise<Report> {
  const bytes = await unpackReport(file)
  if (bytes.includes(0)) refuseReport(sentence('report.unknown_format')) // also UTF-16
  const start = bytes
    .toString('latin1', 0, 1024)
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart()
  if (start.startsWith('<')) return checkPeriod(await readDmarcXml(decode(bytes)), now)
  if (start.startsWith('{')) return checkPeriod(toTlsReport(await readJsonDocument(bytes)), now)
  return refuseReport(sentence('report.unknown_format'))
}

/** XML without a byte order mark; octets that are not UTF-8 are taken as ISO 8859-1. */
function decode(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1').replace(/^\ufeff/, '')
}

async function readJsonDocument(bytes: Buffer): Promise<unknown> {
  const from = bytes[0] === 0xef ? 3 : 0
  const reader = new JsonReader(JSON_BOUNDS)
  try {
    for (let at = from; at < bytes.length; at += TURN_BYTES) {
      reader.push(bytes.subarray(at, at + TURN_BYTES))
      await nextTurn()
    }
    return reader.end()
  } catch (error) {
    if (error instanceof JsonError) return refuseReport(sentence('report.not_json', { reason: error.sentence }))
    throw error
  }
}

function checkPeriod<R extends ReportPeriod>(report: R, now: number): R {
  const { begin, end } = report
  const isSound = begin <= end && end - begin <= MAX_PERIOD_MS
  if (!isSound || end > now + FUTURE_MS || begin < now - REPORT_DAYS * DAY_MS)
    refuseReport(sentence('report.period', { days: REPORT_DAYS }))
  return report
}
