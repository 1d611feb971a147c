/** A field that filters while one types, a little after the last key. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'

/** The field. */
export function TextFilter(props: {
  label: string
  value: string
  set: (value: string) => void
  placeholder?: string
  wide?: boolean
}) {
  const [text, setText] = useState(props.value)
  const own = useRef(props.value)
  const later = useDebouncedCallback((value: string) => {
    own.current = value
    props.set(value)
  }, 400)
  // Back and "clear" change the address without a key being pressed. What came from here stays as it is typed.
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
        later(event.currentTarget.value.trim())
      }}
      w={props.wide ? { base: '100%', xs: 270 } : 160}
    />
  )
}
