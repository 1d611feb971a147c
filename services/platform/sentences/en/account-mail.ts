/** Mail about accounts: subjects, and texts with a link. */

export const accountMail = {
  'mail.reset_subject': 'Set a new password',
  'mail.reset_text':
    'Hello {name},\n\nsomeone, probably you, requested a new password for your Postwright account {name}. Open this page within one hour to set it:\n\n{link}\n\nThe link works once. If it was not you, ignore this email: your password is not changed.\n',
  'mail.was_reset_subject': 'Your password was changed',
  'mail.was_reset_text':
    'Hello {name},\n\nthe password of your Postwright account {name} was reset with a link from an email, and all sessions have ended. If it was not you, request a new password at once and inform your administrator:\n\n{link}\n',
  'mail.confirm_subject': 'Confirm your email address',
  'mail.confirm_text':
    'Hello {name},\n\nthis address was entered for the Postwright account {name}. Open this page within 24 hours to confirm it:\n\n{link}\n\nIf it was not you, ignore this email: nothing is changed.\n',
  'mail.email_changed_subject': 'Your email address was changed',
  'mail.email_changed_text':
    'Hello {name},\n\nthe email address of your Postwright account {name} was changed or removed. Email about the account is no longer sent to this address. If it was not you, inform your administrator at once:\n\n{link}\n',
  'mail.invitation_subject': 'You are invited to Postwright',
  'mail.invitation_text':
    'Hello,\n\n{name} invites you to Postwright. Open this page within 7 days to choose a user name and a password:\n\n{link}\n\nThe link works once. If you do not know the sender, ignore this email.\n',
} as const
