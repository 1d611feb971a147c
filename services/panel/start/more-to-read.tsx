/** Links to the documents and the reference of the API, and the version of the panel. */
import { Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { documentAddress } from './documents.ts'

/** Both are inserted by the build. */
declare const __VERSION__: string
declare const __IS_RELEASE__: boolean

export function MoreToRead() {
  const { t, i18n } = useTranslation()
  const page = (name: string) => documentAddress(name, i18n.language, __IS_RELEASE__ ? __VERSION__ : undefined)
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
