/** The collections of accounts that only this subject reads; a main calls ensureIndexes with them. */
import { memberInvitations } from '../members/store/member-invitations.ts'
import { memberships } from '../members/store/memberships.ts'
import { accountLinks } from './account-links.ts'
import { accountMails } from './account-mails.ts'
import { invitations } from './invitations.ts'
import { secondFactors } from './second-factors.ts'

export const accountMailCollections = [
  accountMails,
  accountLinks,
  invitations,
  memberInvitations,
  memberships,
  secondFactors,
]
