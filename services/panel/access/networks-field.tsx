import { Textarea, type TextareaProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Networks (CIDR) from which a login or token may be used, one on each line. */
export function NetworksField(props: TextareaProps) {
  const { t } = useTranslation()
  return (
    <Textarea
      label={t('access.networks')}
      description={t('access.networksHint')}
      placeholder="192.0.2.0/24"
      autosize
      minRows={2}
      {...props}
    />
  )
}
