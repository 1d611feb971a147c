/** Mail about accounts as the trial captures it: written by the worker's job, delivered by its engine. */
import { CAPTURED, readCaptured } from '../../../services/mail/store/captured.ts'
import { SYSTEM_USER } from '../../../services/mail/submission/system-sender.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { until } from '../../support/time/until.ts'
import type { PanelService } from './panel-service.ts'

/** The address of the page in the next mail of the platform to this recipient. Rejects when none comes. */
export async function linkInMail({ mongo }: PanelService, to: string): Promise<string> {
  const captured = collectionOf(mongo.db, CAPTURED)
  const query = { user_id: SYSTEM_USER, rcpts: to }
  await until(async () => (await captured.countDocuments(query)) > 0, 60_000)
  const [mail] = await captured.find(query).sort({ at: -1 }).limit(1).toArray()
  const [read] = await readCaptured(mongo, SYSTEM_USER, mail?.m ?? '')
  await captured.deleteMany(query)
  const raw = String(read?.raw)
  const text = raw.replaceAll('=\r\n', '')
  const link = /http:\/\/\S+#[\w-]{43}/.exec(text)?.[0]
  if (link === undefined) throw new Error(`no link in ${raw}`)
  return link
}
