/** The English texts. Their placeholders define the parameters of each code, for all languages. */
import { accountMail } from './account-mail.ts'
import { authentication } from './authentication.ts'
import { compat } from './compat.ts'
import { delivery } from './delivery.ts'
import { details } from './details.ts'
import { dns } from './dns.ts'
import { dnsPlan } from './dns-plan.ts'
import { dnsProviders } from './dns-providers.ts'
import { explain } from './explain.ts'
import { fields } from './fields.ts'
import { health } from './health.ts'
import { inbound } from './inbound.ts'
import { json } from './json.ts'
import { limits } from './limits.ts'
import { mcp } from './mcp.ts'
import { members } from './members.ts'
import { problemTitles } from './problem-titles.ts'
import { queueControl } from './queue-control.ts'
import { reports } from './reports.ts'
import { resources } from './resources.ts'
import { streams } from './streams.ts'
import { templates } from './templates.ts'
import { texts } from './texts.ts'
import { tracking } from './tracking.ts'
import { waysIn } from './ways-in.ts'
import { webhooks } from './webhooks.ts'

export const english = {
  ...accountMail,
  ...authentication,
  ...compat,
  ...delivery,
  ...details,
  ...dns,
  ...dnsPlan,
  ...dnsProviders,
  ...explain,
  ...fields,
  ...health,
  ...inbound,
  ...json,
  ...limits,
  ...mcp,
  ...members,
  ...problemTitles,
  ...reports,
  ...queueControl,
  ...resources,
  ...streams,
  ...tracking,
  ...templates,
  ...texts,
  ...waysIn,
  ...webhooks,
} as const

export type English = typeof english
