/** The Chinese catalogue, one file an area. */
import type { Catalogue } from '../en/index.ts'
import access from './access.json'
import account from './account.json'
import common from './common.json'
import domains from './domains.json'
import messages from './messages.json'
import operator from './operator.json'
import problems from './problems.json'
import start from './start.json'
import subs from './subs.json'

/** All Chinese words. */
export const catalogue: Catalogue = { ...common, access, account, domains, messages, operator, problems, start, subs }
