/** Filter field that applies 400 ms after the last keystroke, unless another page was opened by then. */
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
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
  // The list stays until the code of the next page is loaded; a filter applied meanwhile would lead back to the list.
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
        if (pathChanged) later.cancel()
      }),
    [router, later],
  )
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
