/** The collections of accounts that only this subject reads; a main calls ensureIndexes with them. */
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
  secondFactors,
  identities,
  usedChallenges,
  passkeys,
]
