/** Limits of one account, in a dialog of an admin. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { type SendingLimit, UserLimitForm } from './limit-form.tsx'
import { LimitsTable } from './limits-table.tsx'

/** What is being set: the account as a whole, or a destination. */
interface Editing {
  scope: 'account' | 'destination'
  limit: SendingLimit | undefined
}

export function UserLimits({ user }: { user: string }) {
  const { t } = useTranslation()
  const query = useRead('listUserLimitsOperation', { params: { id: user } })
  const [editing, setEditing] = useState<Editing>()
  if (editing) return <UserLimitForm user={user} {...editing} close={() => setEditing(undefined)} />
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Stack>
          {data.length === 0 ? t('limits.none') : <LimitsTable limits={data} actions={() => null} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => setEditing({ scope: 'destination', limit: undefined })}>
              {t('limits.setDestination')}
            </Button>
            <Button
              onClick={() => setEditing({ scope: 'account', limit: data.find(({ scope }) => scope === 'account') })}
            >
              {t('limits.setAccount')}
            </Button>
          </Group>
        </Stack>
      )}
    </Loaded>
  )
}
