/** The step that the Dockerfile next to this adds: it fills a field and creates an index while mail is processed. */
import type { Migration } from '../../../services/platform/database/migrate.ts'

/** Adds a step after the last one. It only adds data, so older code can still read them. */
export function addNextStep(steps: Migration[]): void {
  steps.push({
    schema: steps.length + 1,
    minReader: steps.at(-1)?.minReader ?? 0,
    async up(db) {
      await db.collection('messages').updateMany({ upgraded: { $exists: false } }, { $set: { upgraded: true } })
      await db.collection('messages').createIndex({ upgraded: 1 })
    },
  })
}
