/** Stores messages in a process of its own, so that the search index is made at the same time: `store-messages.ts URI LOG`. */
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf, connectMongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMessages, type Log } from './messages.ts'

const BATCH = 5_000
const [uri = '', given = ''] = process.argv.slice(2)
const log = JSON.parse(given) as Log
const mongo = await connectMongo(uri, silentLog, { dbName: 'postwright' })
const message = createMessages(log, 1)
for (let from = 0; from < log.count; from += BATCH) {
  const batch = Array.from({ length: Math.min(BATCH, log.count - from) }, (_, index) => message(from + index))
  await collectionOf(mongo.db, MESSAGES).insertMany(batch, { ordered: false, writeConcern: { w: 1 } })
  process.send?.(from + batch.length)
}
await mongo.stop()
process.disconnect()
