/** A field for a password, with a button that shows what was typed. */
import { PasswordInput as MantinePasswordInput, type PasswordInputProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The field. Its button is named, and reached by keyboard like every other. */
export function PasswordInput(props: PasswordInputProps) {
  const { t } = useTranslation()
  return (
    <MantinePasswordInput
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': t('account.showPassword') }}
      {...props}
    />
  )
}
