/** Members of an account: mail, and what is refused. */

export const members = {
  'mail.member_invitation_subject': 'You are invited to the account {account}',
  'mail.member_invitation_text':
    'Hello,\n\n{name} invites you to work in the account {account} of Postwright. Open this page within 7 days to join, with an existing user or a new one:\n\n{link}\n\nThe link works once. If you do not know the sender, ignore this email.\n',
  'detail.account_of_suspended': 'The account {name} is suspended.',
  'detail.role_needed': 'This requires the role {role} or a higher one in the account; yours is {own}.',
  'detail.role_not_assignable': 'Your role may not grant, change or withdraw the role {role}.',
  'detail.owner_stays': 'The owner of an account has no other role and cannot leave it.',
  'detail.no_member': 'There is no such member of the account.',
  'detail.member_already': '{name} belongs to the account already.',
  'detail.members': 'An account has at most {count} members and invitations, and a user at most {count} accounts.',
  'detail.other_address': 'The invitation is for {email}, and you have confirmed another address.',
  'field.role_lacks_scope': 'Your role in the account does not include the scope {scope}.',
} as const
