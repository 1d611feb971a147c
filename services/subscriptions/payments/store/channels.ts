/** Settings of the payment channels of apps. */
import type { Session } from '../../../platform/database/mongo.ts'
import type { Collections } from '../../store/collections.ts'
import type { ChannelDoc } from '../../store/models.ts'

/** The settings of a payment channel of an app. */
export async function findChannel(
  collections: Collections,
  appKey: string,
  channel: ChannelDoc['channel'],
  session?: Session,
): Promise<ChannelDoc | undefined> {
  const found = collections.channels.findById(`${appKey}/${channel}`).session(session ?? null)
  return (await found.lean()) ?? undefined
}

/** All payment channels of an app. */
export async function listChannels(collections: Collections, appKey: string): Promise<ChannelDoc[]> {
  return collections.channels.find({ app_key: appKey }).sort({ channel: 1 }).lean()
}

/** Stores the settings of a payment channel. */
export async function saveChannel(collections: Collections, channel: ChannelDoc, session: Session): Promise<void> {
  await collections.channels.replaceOne({ _id: channel._id }, channel, { upsert: true, session })
}
