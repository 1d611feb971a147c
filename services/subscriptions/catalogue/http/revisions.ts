/** Former states of switches and plans. */
import type { Zone } from '../../rules/time-zone.ts'
import type { RevisionDoc } from '../../store/documents.ts'

/** Former states as the API shows them. */
export function viewRevisions(revisions: readonly RevisionDoc[], zone: Zone) {
  return {
    revisions: revisions.map(({ revision, deleted, by, at, document }) => ({
      revision: String(revision),
      deleted,
      by,
      at: zone.format(at),
      record: document as Record<string, unknown>,
    })),
  }
}
