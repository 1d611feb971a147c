/** Times of the Subscription Administration API, which formats them in the business time zone. */
import { useSession } from '../../session/session.ts'
import { Time } from '../../ui/values/time.tsx'
import { instantOf } from '../../ui/values/time-zone.ts'

/** Texts that are not a time, such as "Permanent", are shown unchanged. */
export function BusinessTime({ at, short }: { at: string | null | undefined; short?: boolean }) {
  const { business_time_zone } = useSession()
  if (!at) return <Time at={null} />
  const moment = instantOf(at, business_time_zone)
  return moment ? <Time short={short === true} at={moment.toISOString()} /> : at
}
