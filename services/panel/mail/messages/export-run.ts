/** Reads the parts of an export, one after the other, into one file. */

export interface ExportProgress {
  parts: number
  bytes: number
  /** The file ended at {@link PARTS_MOST}. */
  isCut?: boolean
}

/** An answer has at most 10,000 messages; a file of more than this many parts is too much for a browser. */
export const PARTS_MOST = 20

/** `part` answers one part, after a cursor. Rejects when one fails: a file with a gap would look complete. */
export async function readExport(
  part: (after: string | undefined) => Promise<Response>,
  report: (progress: ExportProgress) => void,
): Promise<{ blob: Blob; isComplete: boolean }> {
  const blobs: Blob[] = []
  let next: string | undefined
  let bytes = 0
  do {
    const response = await part(next)
    const blob = await response.blob()
    blobs.push(blob)
    bytes += blob.size
    next = response.headers.get('x-next') ?? undefined
    report({ parts: blobs.length, bytes })
  } while (next !== undefined && blobs.length < PARTS_MOST)
  return { blob: new Blob(blobs, { type: 'text/csv' }), isComplete: next === undefined }
}
