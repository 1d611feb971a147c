/** Chinese catalogue, one file for each area. */
import type { Catalogue } from '../en/index.ts'
import access from './access.json' with { type: 'json' }
import account from './account.json' with { type: 'json' }
import authentication from './authentication.json' with { type: 'json' }
import common from './common.json' with { type: 'json' }
import dns from './dns.json' with { type: 'json' }
import domains from './domains.json' with { type: 'json' }
import guides from './guides.json' with { type: 'json' }
import inbox from './inbox.json' with { type: 'json' }
import limits from './limits.json' with { type: 'json' }
import members from './members.json' with { type: 'json' }
import messages from './messages.json' with { type: 'json' }
import operator from './operator.json' with { type: 'json' }
import problems from './problems.json' with { type: 'json' }
import queue from './queue.json' with { type: 'json' }
import reports from './reports.json' with { type: 'json' }
import security from './security.json' with { type: 'json' }
import start from './start.json' with { type: 'json' }
import subs from './subs.json' with { type: 'json' }
import suppressions from './suppressions.json' with { type: 'json' }
import templates from './templates.json' with { type: 'json' }
import tracking from './tracking.json' with { type: 'json' }
import ways from './ways.json' with { type: 'json' }
import webhooks from './webhooks.json' with { type: 'json' }

export { chinese as sentences } from '../../../platform/sentences/zh-cn/index.ts'

export const catalogue: Catalogue = {
  ...common,
  access,
  account,
  authentication,
  dns,
  domains,
  guides,
  inbox,
  limits,
  members,
  messages,
  operator,
  problems,
  queue,
  reports,
  security,
  start,
  subs,
  suppressions,
  templates,
  tracking,
  ways,
  webhooks,
}
