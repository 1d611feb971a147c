/** The collections of accounts that only this subject reads; a main calls ensureIndexes with them. */
import { memberInvitations } from '../members/store/member-invitations.ts'
import { memberships } from '../members/store/memberships.ts'
import { accountLinks } from './account-links.ts'
import { accountMails } from './account-mails.ts'
import { identities } from './identities.ts'
import { invitations } from './invitations.ts'
import { passkeys } from './passkeys.ts'
import { secondFactors } from './second-factors.ts'
import { usedChallenges } from './used-challenges.ts'

export const accountMailCollections = [
  accountMails,
  accountLinks,
  invitations,
  identities,
  memberInvitations,
  memberships,
  passkeys,
  secondFactors,
  usedChallenges,
]
