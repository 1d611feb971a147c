/** Reads a DMARC report in XML: streaming, without a document type and its entities, within bounds. */
import sax from 'sax'
import { nextTurn } from '../../../platform/concurrency/event-loop-turns.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { createDmarcReader, type DmarcReport } from '../rules/dmarc-report.ts'
import { MAX_DEPTH, MAX_FIELD_CHARS } from '../rules/report-limits.ts'
import { refuseReport } from '../rules/report-values.ts'

/** Characters that are parsed before others have their turn: some milliseconds. */
const TURN_CHARS = 64 * 1024

/** Throws {@link ReportError} for XML that is not well-formed, has a document type or is no DMARC report. */
export async function readDmarcXml(text: string): Promise<DmarcReport> {
  // Entities can expand without bound, and reports have none: nothing that declares them reaches the parser.
  if (/<!(?!--|\[CDATA\[)/.test(text)) refuseReport(sentence('report.document_type'))
  const reader = createDmarcReader()
  const path: string[] = []
  let value = ''
  let hasChild = false
  let ended = false
  const parser = sax.parser(true, { position: false })
  parser.onopentagstart = ({ name }) => {
    const local = name.slice(name.indexOf(':') + 1)
    if (ended) refuseReport(sentence('report.not_well_formed'))
    if (path.length === 0 && local !== 'feedback') refuseReport(sentence('report.not_a_report'))
    if (path.length === MAX_DEPTH) refuseReport(sentence('report.too_deep'))
    path.push(local)
    value = ''
    hasChild = false
    if (path.length > 1) reader.open(path.slice(1).join('/'))
  }
  const onText = (more: string) => {
    value += more
    if (value.length > MAX_FIELD_CHARS) refuseReport(sentence('report.field_too_long', { count: MAX_FIELD_CHARS }))
  }
  parser.ontext = onText
  parser.oncdata = onText
  parser.onclosetag = () => {
    const at = path.slice(1).join('/')
    if (!hasChild) reader.value(at, value)
    reader.close(at)
    path.pop()
    ended = path.length === 0
    value = ''
    hasChild = true
  }
  parser.onerror = () => refuseReport(sentence('report.not_well_formed'))
  for (let at = 0; at < text.length; at += TURN_CHARS) {
    parser.write(text.slice(at, at + TURN_CHARS))
    await nextTurn()
  }
  parser.close()
  return reader.end()
}
