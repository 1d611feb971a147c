/** Times of the Subscription Administration API, which formats them in the business time zone. */
import { useSession } from '../../session/session.ts'
import { DateAndTime, Time } from '../../ui/values/time.tsx'
import { instantOf } from '../../ui/values/time-zone.ts'

interface Props {
  at: string | null | undefined
}

/** Texts that are not a time, such as "Permanent", are shown unchanged. */
export function BusinessTime({ at, short }: Props & { short?: boolean }) {
  const { business_time_zone } = useSession()
  if (!at) return <Time at={null} />
  const moment = instantOf(at, business_time_zone)
  return moment ? <Time short={short === true} at={moment.toISOString()} /> : at
}

/** The same with the date first. */
export function BusinessDate({ at }: Props) {
  const { business_time_zone } = useSession()
  const moment = at ? instantOf(at, business_time_zone) : undefined
  return at && !moment ? at : <DateAndTime at={moment?.toISOString()} />
}
