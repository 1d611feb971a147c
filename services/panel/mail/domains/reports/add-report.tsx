/** Dialog that uploads a report from a mailbox. */

import { Button, FileInput } from '@mantine/core'
import { IconFileUpload, IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../../api/client.ts'
import { fillPath, request } from '../../../api/fetch.ts'
import { notifySuccess } from '../../../ui/feedback/notifications.ts'
import { Dialog } from '../../../ui/forms/dialog.tsx'
import { SubmitForm } from '../../../ui/forms/form.tsx'
import { NeedsRole } from '../../../ui/forms/needs-role.tsx'

type Added = Output<'addDomainReportOperation'>

async function upload(id: string, content: File): Promise<Added> {
  const file = { type: 'application/octet-stream', content }
  const response = await request(fillPath('/api/v1/domains/{id}/reports', { id }), { method: 'POST', file })
  return (await response.json()) as Added
}

/** Button and dialog; `onAdded` gets the kind of the report. */
export function AddReport({ domainId, onAdded }: { domainId: string; onAdded: (kind: Added['kind']) => void }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  return (
    <>
      <NeedsRole needs="admin">
        <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen(true)}>
          {t('reports.add')}
        </Button>
      </NeedsRole>
      <Dialog opened={open} close={() => setOpen(false)} title={t('reports.addTitle')}>
        {() => <AddForm domainId={domainId} close={() => setOpen(false)} onAdded={onAdded} />}
      </Dialog>
    </>
  )
}

function AddForm(props: { domainId: string; close: () => void; onAdded: (kind: Added['kind']) => void }) {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const add = useMutation({
    mutationFn: (chosen: File) => upload(props.domainId, chosen),
    async onSuccess({ duplicate, organisation, total, kind }) {
      for (const operation of ['getDmarcOperation', 'getTlsReportsOperation'])
        await queries.invalidateQueries({ queryKey: [operation] })
      props.close()
      props.onAdded(kind)
      notifySuccess(
        duplicate ? t('reports.known', { organisation }) : t('reports.added', { organisation, count: total }),
      )
    },
  })
  return (
    <SubmitForm
      state={add}
      submit={() => (file ? add.mutate(file) : undefined)}
      action={t('reports.add')}
      cancel={props.close}
      disabled={!file}
    >
      <FileInput
        label={t('reports.file')}
        description={t('reports.fileHint')}
        placeholder={t('reports.chooseFile')}
        accept=".xml,.gz,.zip,.json"
        leftSection={<IconFileUpload size={16} />}
        value={file}
        onChange={chosen => {
          setFile(chosen)
          add.reset()
        }}
        clearable
        clearButtonProps={{ 'aria-label': t('reports.removeFile') }}
      />
    </SubmitForm>
  )
}
