/** Chinese texts that the pages opened first need, and the layout around every page. */
import type { first as english } from '../en/first.ts'
import account from './account.json' with { type: 'json' }
import authentication from './authentication.json' with { type: 'json' }
import common from './common.json' with { type: 'json' }
import domains from './domains.json' with { type: 'json' }
import members from './members.json' with { type: 'json' }
import messages from './messages.json' with { type: 'json' }
import problems from './problems.json' with { type: 'json' }
import security from './security.json' with { type: 'json' }
import start from './start.json' with { type: 'json' }
import ways from './ways.json' with { type: 'json' }

export const first: typeof english = {
  ...common,
  account,
  authentication,
  domains,
  members,
  messages,
  problems,
  security,
  start,
  ways,
}
