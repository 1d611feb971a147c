/** Filter field that applies 400 ms after the last keystroke. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'

export function TextFilter(props: {
  label: string
  value: string
  set: (value: string) => void
  placeholder?: string
  wide?: boolean
  /** What is applied of a text; by default without blanks at its ends. */
  clean?: (text: string) => string
}) {
  const { clean = (given: string) => given.trim() } = props
  const [text, setText] = useState(props.value)
  const own = useRef(props.value)
  const later = useDebouncedCallback((value: string) => {
    own.current = value
    props.set(value)
  }, 400)
  // Navigation and "clear filters" change the value from outside. A value set by this field must not replace what is being typed.
  useEffect(() => {
    if (props.value === own.current) return
    own.current = props.value
    later.cancel()
    setText(props.value)
  }, [props.value, later])
  return (
    <TextInput
      label={props.label}
      placeholder={props.placeholder ?? ''}
      value={text}
      leftSection={props.wide ? <IconSearch size={15} /> : undefined}
      onChange={event => {
        setText(event.currentTarget.value)
        later(clean(event.currentTarget.value))
      }}
      w={props.wide ? { base: '100%', xs: 300 } : 160}
    />
  )
}
