/** Bounds of reports that anybody can send. Real ones are far below: a large provider's daily report has some megabytes. */

/** Largest file or attachment, in bytes. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024
/** Largest report after decompression, in bytes. */
export const MAX_REPORT_BYTES = 25 * 1024 * 1024
/** Largest expansion of a compressed report; XML of reports shrinks to a tenth or a thirtieth. */
const MAX_RATIO = 200
/** Small files may expand by more: nothing is gained by refusing them. */
const ALWAYS_ALLOWED_BYTES = 1024 * 1024
/** Files in a zip archive; a report is one of them. */
export const MAX_ARCHIVE_ENTRIES = 10
/** Records of a DMARC report, and failures of a TLS report. */
export const MAX_RECORDS = 50_000
/** Longest text of one field, in UTF-16 units. */
export const MAX_FIELD_CHARS = 4_096
/** Longest stored text: names of organisations, report ids, addresses. */
export const MAX_STORED_CHARS = 255
/** Largest number of messages or sessions in one record: sums of all records stay exact. */
export const MAX_COUNT = 10_000_000_000
/** Elements inside each other; the schema of DMARC has five. */
export const MAX_DEPTH = 12

/** How many bytes a compressed file of this size may expand to. */
export function mostInflated(compressed: number): number {
  return Math.min(MAX_REPORT_BYTES, Math.max(ALWAYS_ALLOWED_BYTES, compressed * MAX_RATIO))
}
