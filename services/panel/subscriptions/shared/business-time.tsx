/** Times of the Subscription Administration API, which writes them in its own zone, as everywhere else in the panel. */
import { useSession } from '../../session/session.ts'
import { Time } from '../../ui/values/time.tsx'
import { instantOf } from '../../ui/values/time-zone.ts'

/** The time; words that stand in its place ("permanent", nothing) are shown as they are. */
export function BusinessTime({ at }: { at: string | null | undefined }) {
  const { business_time_zone } = useSession()
  if (!at) return <Time at={null} />
  const moment = instantOf(at, business_time_zone)
  return moment ? <Time at={moment.toISOString()} /> : at
}
