/** Mail about accounts: subjects, and texts with a link. */

export const accountMail = {
  'mail.reset_subject': 'Set a new password',
  'mail.reset_text':
    'Hello {name},\n\nsomebody, probably you, asked for a new password for your Postwright account {name}. Open this page within one hour to set it:\n\n{link}\n\nThe link works once. If it was not you, ignore this mail: your password stays as it is.\n',
  'mail.was_reset_subject': 'Your password was changed',
  'mail.was_reset_text':
    'Hello {name},\n\nthe password of your Postwright account {name} was set again with a link from a mail, and all sessions have ended. If it was not you, ask for a new password at once and tell your administrator:\n\n{link}\n',
  'mail.confirm_subject': 'Confirm your e-mail address',
  'mail.confirm_text':
    'Hello {name},\n\nthis address was entered for the Postwright account {name}. Open this page within 24 hours to confirm it:\n\n{link}\n\nIf it was not you, ignore this mail: nothing changes.\n',
  'mail.email_changed_subject': 'Your e-mail address was changed',
  'mail.email_changed_text':
    'Hello {name},\n\nyour Postwright account {name} has another e-mail address now, or none. Mail about the account no longer comes here. If it was not you, tell your administrator at once:\n\n{link}\n',
  'mail.invitation_subject': 'You are invited to Postwright',
  'mail.invitation_text':
    'Hello,\n\n{name} invites you to Postwright. Open this page within 7 days to choose a user name and a password:\n\n{link}\n\nThe link works once. If you do not know the sender, ignore this mail.\n',
} as const
