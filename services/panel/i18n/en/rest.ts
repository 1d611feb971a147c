/** English texts of the other pages, loaded with the first of them. */
import access from './access.json' with { type: 'json' }
import dns from './dns.json' with { type: 'json' }
import guides from './guides.json' with { type: 'json' }
import inbox from './inbox.json' with { type: 'json' }
import limits from './limits.json' with { type: 'json' }
import operator from './operator.json' with { type: 'json' }
import queue from './queue.json' with { type: 'json' }
import reports from './reports.json' with { type: 'json' }
import subs from './subs.json' with { type: 'json' }
import suppressions from './suppressions.json' with { type: 'json' }
import templates from './templates.json' with { type: 'json' }
import tracking from './tracking.json' with { type: 'json' }
import webhooks from './webhooks.json' with { type: 'json' }

export const rest = {
  access,
  dns,
  guides,
  inbox,
  limits,
  operator,
  queue,
  reports,
  subs,
  suppressions,
  templates,
  tracking,
  webhooks,
}
