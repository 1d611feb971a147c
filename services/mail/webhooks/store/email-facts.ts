/** The fields of messages that their events repeat. */

import { collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { cellsOf } from '../../store/cells.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { MESSAGES } from '../../store/messages.ts'
import type { EmailFacts } from '../rules/mail-event.ts'

const FIELDS = { domain_id: 1, message_id: 1, from: 1, subject: 1, tags: 1, metadata: 1, lane: 1, list: 1, test: 1 }

/** By the id of the message. */
export async function findEmailFacts(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EmailFacts & Pick<MessageDoc, 'domain_id'>>> {
  const found = await collectionOf(db, MESSAGES)
    .find({ _id: { $in: [...new Set(ids)] }, ...cellsOf(db).of(ids) })
    .project<EmailFacts & Pick<MessageDoc, 'domain_id'>>(FIELDS)
    .batchSize(ids.length + 1)
    .toArray()
  return new Map(found.map(message => [message._id, message]))
}
