/** Confirmation of destructive actions: the user types the name, or presses the button; a stray Enter does nothing. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { problemText } from '../feedback/problem-text.ts'
import { Note } from '../feedback/status-badge.tsx'
import { Dialog } from './dialog.tsx'
import { useUnsavedWork } from './unsaved-work.tsx'

/** `phrase` must be typed to confirm; omit it for actions that can be repeated. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return (
    <Dialog opened={props.opened} close={props.close} title={props.title}>
      {() => <ConfirmForm {...props} />}
    </Dialog>
  )
}

interface ConfirmDialogProps {
  opened: boolean
  close: () => void
  title: string
  children: ReactNode
  phrase?: string
  action: string
  /** Label of the button that closes the dialog; by default "Cancel". */
  dismiss?: string
  run: () => Promise<unknown>
  /** Input in `children` that would be lost. */
  unsaved?: boolean
}

/** The content of the dialog, for one that has other steps before. */
export function ConfirmForm(props: Omit<ConfirmDialogProps, 'opened' | 'title'>) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  // A double click is faster than the rendering of `busy`.
  const running = useRef(false)
  useUnsavedWork(() => props.unsaved === true && !running.current)
  const run = async () => {
    if (running.current) return
    running.current = true
    setBusy(true)
    setError(undefined)
    try {
      await props.run()
      props.close()
    } catch (failure) {
      setError(failure)
    }
    running.current = false
    setBusy(false)
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        void run()
      }}
      {...(props.phrase === undefined ? { onKeyDown: ignoreEnter } : {})}
    >
      <Stack gap="md">
        <Text fz="sm" component="div">
          {props.children}
        </Text>
        {props.phrase === undefined ? null : (
          <TextInput
            data-autofocus
            autoComplete="off"
            label={t('ui.typeToConfirm', { phrase: props.phrase })}
            value={typed}
            onChange={event => setTyped(event.currentTarget.value)}
          />
        )}
        {error === undefined ? null : (
          <div role="alert">
            <Note tone="bad">{problemText(error, t)}</Note>
          </div>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.close}>
            {props.dismiss ?? t('ui.cancel')}
          </Button>
          <Button
            type="submit"
            color="stamp"
            loading={busy}
            disabled={props.phrase !== undefined && typed.trim() !== props.phrase}
          >
            {props.action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Fields in `children` do not confirm. */
function ignoreEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault()
}
