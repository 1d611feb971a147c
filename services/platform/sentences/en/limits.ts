/** Limits of sending. */
export const limits = {
  'limits.of_account': 'of this account',
  'limits.of_credential': 'of the login {name}',
  'limits.of_domain': 'of the domain {name}',
  'detail.limit_rate':
    'The sending limit {whose} is {limit} recipients a second with a burst of {burst}; try again in {seconds} s.',
  'detail.limit_hour':
    'The sending limit {whose} is {limit} recipients an hour, of which {left} are left; it starts again in {seconds} s.',
  'detail.limit_day':
    'The sending limit {whose} is {limit} recipients a day, of which {left} are left; it starts again in {seconds} s.',
  'detail.limit_unknown_subject': 'The account has no such login or domain.',
  'detail.limits_most': 'An account can have {count} limits at most.',
  'field.limit_of_other_scope': 'does not apply to a limit of this kind',
  'field.limit_burst_alone': 'needs recipients_per_second',
  'field.limit_above_account': 'must not be above the limit of the account, {limit}',
  'field.destination': 'must be a provider, a domain or *',
} as const
