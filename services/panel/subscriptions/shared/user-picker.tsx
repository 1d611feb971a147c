/** Choice of an end user by name, email, phone, id or external id: the search of the API. */
import { Select, type SelectProps, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type SubOutput, useSubRead } from './subscriptions-api.ts'

export type EndUser = SubOutput<'listUsersOperation'>['users'][number]

/** Name of a user for people. */
export function userName(user: { id: string; nickname: string }, t: TFunction): string {
  return user.nickname || t('subs.unnamed', { id: user.id })
}

/** What distinguishes users of the same name, without the id. */
export function userContact(user: EndUser): string {
  return user.email ?? user.phone ?? (user.openid || user.huawei_openid || user.unionid || user.huawei_unionid)
}

const SHOWN = 20

/** `value` is the id of the user, or empty. */
export function UserPicker(
  props: { appKey: string; value: string; onChange: (id: string) => void } & Pick<
    SelectProps,
    'label' | 'description' | 'error' | 'w' | 'clearable'
  > & { 'data-autofocus'?: boolean },
) {
  const { t } = useTranslation()
  const { appKey, value, onChange, ...rest } = props
  const [text, setText] = useState('')
  const [typed] = useDebouncedValue(text.trim(), 250)
  const chosen = useSubRead(
    'getUserOperation',
    { params: { id: value }, query: { app_key: appKey } },
    { enabled: value !== '' },
  ).data?.users[0]
  const labelOf = (user: EndUser) => [userName(user, t), userContact(user)].filter(Boolean).join(' · ')
  // The field holds the label of the chosen user, which is nothing to search for.
  const search = chosen && typed === labelOf(chosen).trim() ? undefined : typed || undefined
  const found = useSubRead('listUsersOperation', {
    query: omitUndefined({ app_key: appKey, pageSize: SHOWN, search }),
  })
  const listed = found.data?.users ?? []
  const users = chosen && !listed.some(user => user.id === chosen.id) ? [chosen, ...listed] : listed
  return (
    <Select
      placeholder={t('subs.userPickerHint')}
      {...rest}
      title={chosen && labelOf(chosen)}
      data={users.map(user => ({ value: user.id, label: labelOf(user) }))}
      value={value || null}
      onChange={id => onChange(id ?? '')}
      searchable
      // A list that opens with its dialog would take the first Esc.
      openOnFocus={false}
      onSearchChange={setText}
      // The API has searched already.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? t('ui.loading') : t('subs.noUserFound')}
      renderOption={({ option }) => (
        <span>
          {option.label}
          <Text span c="dimmed" fz="xs">
            {' '}
            #{option.value}
          </Text>
        </span>
      )}
    />
  )
}
