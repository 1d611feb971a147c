/** The step that the Dockerfile beside this adds: it fills a field and makes an index while mail goes on. */
import type { Migration } from '../../../services/platform/database/migrate.ts'

/** Adds the step behind the last one. It only adds data, so whoever read them before can read them after it. */
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
