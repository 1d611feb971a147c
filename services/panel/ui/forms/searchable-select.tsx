/**
 * Choices from a list that is searched by typing. Enter chooses the first option that matches what is typed, or does nothing if
 * none does. It never submits the form without what is typed: a token that names no domain may send from all of them.
 */
import {
  getOptionsLockup,
  getParsedComboboxData,
  MultiSelect,
  type MultiSelectProps,
  Select,
  type SelectProps,
} from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

/** Choice of one. The text of the field is the label of the chosen option until something is typed. */
export function SearchableSelect(props: SelectProps & { value: string | null }) {
  const options = getOptionsLockup(getParsedComboboxData(props.data))
  const labelOf = (value: string | null) => (value === null ? '' : (options[value]?.label ?? ''))
  const { setText, search } = useSearch(labelOf(props.value))
  return (
    <Select
      // Enter on the chosen option must not remove it.
      allowDeselect={false}
      onOptionSubmit={value => setText(labelOf(value))}
      {...search}
      {...props}
    />
  )
}

/** Choice of several. The chosen ones are not in the list, so that Enter cannot remove one. */
export function SearchableMultiSelect(props: MultiSelectProps) {
  return <MultiSelect hidePickedOptions {...useSearch('').search} {...props} />
}

/** `chosen` is the text of the field while nothing is typed. */
function useSearch(chosen: string) {
  const { t } = useTranslation()
  const [text, setText] = useState(chosen)
  const isTyped = text.trim() !== '' && text !== chosen
  const search = {
    searchable: true,
    searchValue: text,
    onSearchChange: setText,
    nothingFoundMessage: isTyped ? t('ui.noOption') : undefined,
    classNames: { options: isTyped ? 'pw-matches' : '' },
    // The library can mark the first option after each change (`selectFirstOptionOnChange`), but also marks it where the text
    // is empty or the chosen label again, and the list therefore not filtered.
    onKeyDown(event: KeyboardEvent) {
      if (!isTyped || event.key !== 'Enter' || event.nativeEvent.isComposing) return
      event.preventDefault()
      const list = document.getElementById(event.currentTarget.getAttribute('aria-controls') ?? '')
      // The library chooses the one that an arrow key has marked.
      if (!list?.querySelector('[data-combobox-selected]'))
        list?.querySelector<HTMLElement>('[data-combobox-option]')?.click()
    },
  }
  return { setText, search }
}
