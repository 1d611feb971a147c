/** The English catalogue, one file an area. */
import access from './access.json'
import account from './account.json'
import common from './common.json'
import domains from './domains.json'
import messages from './messages.json'
import operator from './operator.json'
import problems from './problems.json'
import start from './start.json'
import subs from './subs.json'

/** All English words. */
export const catalogue = { ...common, access, account, domains, messages, operator, problems, start, subs }

/** The keys that every language must have. */
export type Catalogue = typeof catalogue
