import { PasswordInput as MantinePasswordInput, type PasswordInputProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Password field whose visibility toggle has an accessible name and is focusable. */
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
