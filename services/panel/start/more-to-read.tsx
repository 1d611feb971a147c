/** Links to the documents and the reference of the API, and the version of the panel. */
import { Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Inserted by the build. */
declare const __VERSION__: string

const DOCUMENTS = 'https://github.com/postwright/postwright/blob/main/docs'

export function MoreToRead() {
  const { t, i18n } = useTranslation()
  const page = (name: string) => `${DOCUMENTS}/${name}${i18n.language === 'zh-CN' ? '.zh-CN' : ''}.md`
  const links: [href: string, text: string][] = [
    ['/docs', t('start.more.reference')],
    [page('quickstarts/README'), t('start.more.quickstarts')],
    [page('smtp'), t('start.more.smtp')],
    [page('simulator'), t('start.more.simulator')],
    [page('webhooks'), t('start.more.webhooks')],
    [page('compatibility'), t('start.more.compatibility')],
  ]
  return (
    <Group gap="lg" justify="space-between">
      <Group gap="lg">
        {links.map(([href, text]) => (
          <a key={href} href={href} className="pw-link" target="_blank" rel="noreferrer">
            {text}
          </a>
        ))}
      </Group>
      <Text fz="sm" c="dimmed">
        {t('start.more.version', { version: __VERSION__ })}
      </Text>
    </Group>
  )
}
