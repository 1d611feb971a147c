/** Adds a DKIM key, generated or imported, that becomes active once its DNS record is visible. */

import { Button, SegmentedControl, Text, Textarea, TextInput } from '@mantine/core'
import { IconRotate } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { notifySuccess } from '../ui/feedback/notifications.ts'
import { Dialog } from '../ui/forms/dialog.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { useFields } from '../ui/forms/use-fields.ts'

const KINDS = ['rsa-sha256', 'ed25519-sha256', 'own'] as const
type Kind = (typeof KINDS)[number]

export function DkimRotationButton({ domainId }: { domainId: string }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <NeedsRole needs="admin">
        <Button variant="default" size="xs" leftSection={<IconRotate size={15} />} onClick={() => setAsking(true)}>
          {t('dns.rotate')}
        </Button>
      </NeedsRole>
      <Dialog opened={asking} close={() => setAsking(false)} title={t('dns.rotateTitle')}>
        {() => <RotateForm domainId={domainId} close={() => setAsking(false)} />}
      </Dialog>
    </>
  )
}

function RotateForm({ domainId, close }: { domainId: string; close: () => void }) {
  const { t } = useTranslation()
  const rotate = useWrite('rotateDkimOperation', ['getDomainOperation'])
  const fields = useFields({ kind: 'rsa-sha256' as Kind, selector: '', private_key: '' }, rotate.error)
  const { kind, selector, private_key } = fields.values
  const submit = () =>
    rotate.mutate(
      {
        params: { id: domainId },
        body: kind === 'own' ? { selector: selector.trim(), private_key } : { algorithm: kind },
      },
      {
        onSuccess: key => {
          close()
          notifySuccess(t('dns.rotated', { selector: key.selector }))
        },
      },
    )
  return (
    <SubmitForm state={rotate} fields={fields} submit={submit} action={t('dns.rotate')} cancel={close}>
      <Text fz="sm">{t('dns.rotateText')}</Text>
      <SegmentedControl
        aria-label={t('domains.algorithm')}
        value={kind}
        onChange={value => fields.change({ kind: KINDS.find(known => known === value) ?? 'rsa-sha256' })}
        data={KINDS.map(value => ({ value, label: t(`dns.keyKind.${value}`) }))}
      />
      {kind === 'own' ? (
        <>
          <TextInput label={t('domains.selector')} autoComplete="off" spellCheck={false} {...fields.text('selector')} />
          <Textarea
            label={t('dns.privateKey')}
            description={t('dns.privateKeyHint')}
            autosize
            minRows={4}
            maxRows={8}
            spellCheck={false}
            {...fields.text('private_key')}
          />
        </>
      ) : null}
    </SubmitForm>
  )
}
