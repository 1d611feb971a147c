/** Revisions of a switch, and restoring a deleted one. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { Revisions } from '../history/revisions.tsx'
import { useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import type { SwitchRecord } from './switch-fields.ts'
import { currentSwitchState } from './switch-revision.ts'

/** Without `record` the switch is a deleted one. `done` is called after a revision was restored. */
export function SwitchHistory(props: { appKey: string; name: string; record?: SwitchRecord; done: () => void }) {
  const { appKey, name, record, done } = props
  const query = useSubRead('readSwitches', { query: { app_key: appKey, action: 'history', name } }, { noCache: true })
  const restore = useSubWrite('restoreSwitchOperation')
  const put = async (revision: number) => {
    await restore.mutateAsync({ query: { app_key: appKey }, body: { name, revision } })
    done()
  }
  return (
    <Loaded query={query}>
      {data => (
        <Revisions
          revisions={'revisions' in data ? data.revisions : []}
          present={record ? currentSwitchState(record) : undefined}
          restore={put}
        />
      )}
    </Loaded>
  )
}

/** Asks for the name, because deleted switches are not listed. */
export function RestoreDeleted({ appKey, close }: { appKey: string; close: () => void }) {
  const { t } = useTranslation()
  const [name, setName] = useState('')
  const [wanted, setWanted] = useState<string>()
  return (
    <Stack gap="md">
      <form
        onSubmit={event => {
          event.preventDefault()
          setWanted(name.trim() || undefined)
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            data-autofocus
            label={t('subs.name')}
            description={t('subs.restoreDeletedHint')}
            autoComplete="off"
            spellCheck={false}
            value={name}
            onChange={event => setName(event.currentTarget.value)}
            style={{ flex: 1 }}
          />
          <Button type="submit" variant="default">
            {t('subs.find')}
          </Button>
        </Group>
      </form>
      {wanted ? <SwitchHistory key={wanted} appKey={appKey} name={wanted} done={close} /> : null}
    </Stack>
  )
}
