/** The report inside a file: plain, gzip or zip, recognised by its first bytes, whatever its name or type says. */
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { fromBufferPromise, type ZipFile } from 'yauzl'
import { concatInTurns } from '../../../platform/concurrency/event-loop-turns.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { MAX_ARCHIVE_ENTRIES, MAX_FILE_BYTES, MAX_REPORT_BYTES, mostInflated } from '../rules/report-limits.ts'
import { ReportError, refuseReport } from '../rules/report-values.ts'

const inflate = promisify(gunzip)
const MEGABYTE = 1024 * 1024

/**
 * The octets of the report. Decompression ends at the bound of {@link mostInflated}. Throws {@link ReportError}; names in
 * an archive are never used as paths.
 */
export async function unpackReport(file: Buffer): Promise<Buffer> {
  if (file.length > MAX_FILE_BYTES)
    refuseReport(sentence('report.file_too_large', { limit: MAX_FILE_BYTES / MEGABYTE }))
  if (file[0] === 0x1f && file[1] === 0x8b) return fromGzip(file)
  if (file.toString('latin1', 0, 4) === 'PK\x03\x04') return fromZip(file)
  return file
}

const tooLarge = () => new ReportError(sentence('report.inflates_too_much', { limit: MAX_REPORT_BYTES / MEGABYTE }))
const damaged = () => new ReportError(sentence('report.archive_damaged'))

async function fromGzip(file: Buffer): Promise<Buffer> {
  try {
    return await inflate(file, { maxOutputLength: mostInflated(file.length) })
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : damaged()
  }
}

async function fromZip(file: Buffer): Promise<Buffer> {
  try {
    return await onlyReport(await fromBufferPromise(file, { lazyEntries: true }), file.length)
  } catch (error) {
    throw error instanceof ReportError ? error : damaged()
  }
}

/** An archive of several reports is refused: each is dated and counted by itself. */
async function onlyReport(archive: ZipFile, compressed: number): Promise<Buffer> {
  if (archive.entryCount > MAX_ARCHIVE_ENTRIES) refuseReport(sentence('report.archive_entries'))
  let found: Buffer | undefined
  for await (const entry of archive.eachEntry()) {
    if (!/\.(?:xml|json)$/i.test(entry.fileName)) continue
    if (found || entry.isEncrypted()) refuseReport(sentence('report.archive_entries'))
    const most = mostInflated(compressed)
    if (entry.uncompressedSize > most) throw tooLarge()
    found = await readAtMost(await archive.openReadStreamPromise(entry), most)
  }
  return found ?? refuseReport(sentence('report.archive_entries'))
}

/** The size that an archive states may be wrong. */
async function readAtMost(stream: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += (chunk as Buffer).length
    if (size > most) throw tooLarge() // leaving the loop destroys the stream
    chunks.push(chunk as Buffer)
  }
  return concatInTurns(chunks)
}
