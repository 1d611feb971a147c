/** Message preview in a sandboxed frame, and the raw source. */
import { Button, Group } from '@mantine/core'
import { IconDownload, IconFileOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { request } from '../../api/fetch.ts'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { CodeBlock } from '../../ui/values/code-block.tsx'

/** Longer sources are truncated on the page; the download is complete. */
const SHOWN_CHARACTERS = 200_000

/** The frame is sandboxed, and the response has a Content-Security-Policy that allows no scripts and no remote content. */
export function MessagePreview({ src, available }: { src: string; available: boolean }) {
  const { t } = useTranslation()
  if (!available) return <DeletedContent />
  return (
    <Card>
      <Note tone="info">{t('messages.previewHint')}</Note>
      <iframe className="pw-preview" sandbox="" src={src} title={t('messages.tab.preview')} />
    </Card>
  )
}

export function MessageSource({ path, available }: { path: string; available: boolean }) {
  const { t } = useTranslation()
  const query = useQuery({
    queryKey: ['source', path],
    queryFn: async ({ signal }) =>
      (await request(path, { method: 'GET', signal, headers: { accept: 'message/rfc822, text/plain' } })).text(),
    enabled: available,
  })
  if (!available) return <DeletedContent />
  return (
    <Card>
      <Group justify="flex-end" mb="sm">
        <Button
          variant="default"
          size="xs"
          component="a"
          href={path}
          download="message.eml"
          leftSection={<IconDownload size={15} />}
        >
          {t('messages.download')}
        </Button>
      </Group>
      <Loaded query={query}>
        {text => <CodeBlock text={text.slice(0, SHOWN_CHARACTERS)} what={t('messages.tab.source')} />}
      </Loaded>
    </Card>
  )
}

function DeletedContent() {
  const { t } = useTranslation()
  return (
    <Card>
      <Empty icon={<IconFileOff size={26} />} title={t('messages.bodyGone')}>
        {t('messages.bodyGoneHint')}
      </Empty>
    </Card>
  )
}
