/** Filter by the token or SMTP login that submitted a message. */
import { useTranslation } from 'react-i18next'
import { useRead } from '../../api/hooks.ts'
import { SearchableSelect } from '../../ui/forms/searchable-select.tsx'

/** Tokens and logins that the list offers; an address may name another one. */
const OFFERED = { query: { limit: 100 } }

/** The first tokens and SMTP logins of the account, by id and name. */
export function useSubmitters({ enabled = true }: { enabled?: boolean } = {}) {
  const tokens = useRead('listTokensOperation', OFFERED, { enabled })
  const logins = useRead('listCredentialsOperation', OFFERED, { enabled })
  return {
    tokens: (tokens.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    logins: (logins.data?.data ?? []).map(({ id, username }) => ({ value: id, label: username })),
  }
}

export function SubmitterFilter(props: { value: string | undefined; set: (value: string | undefined) => void }) {
  const { t } = useTranslation()
  const { tokens, logins } = useSubmitters()
  const groups = [
    { group: t('nav.tokens'), items: tokens },
    { group: t('nav.smtp'), items: logins },
  ]
  const listed = groups.flatMap(({ items }) => items).find(({ value }) => value === props.value)
  const other = props.value !== undefined && !listed ? [{ value: props.value, label: props.value }] : []
  return (
    <SearchableSelect
      label={t('messages.submittedWith')}
      title={listed?.label ?? props.value}
      placeholder={t('messages.any')}
      data={[...groups.filter(({ items }) => items.length > 0), ...other]}
      value={props.value ?? null}
      onChange={value => props.set(value ?? undefined)}
      clearable
      w={190}
    />
  )
}
