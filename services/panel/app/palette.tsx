/** Palette: opens pages, domains, messages and users by a few typed letters. A combobox with a list (ARIA 1.2). */
import { Modal, TextInput } from '@mantine/core'
import { IconArrowRight, IconMail, IconSearch, IconUser, IconWorld } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useTranslation } from 'react-i18next'
import { type PaletteEntry, usePaletteEntries } from './palette-results.ts'

const ICONS = { page: IconArrowRight, domain: IconWorld, message: IconMail, endUser: IconUser, user: IconUser }
const LIST = 'pw-palette-list'
const idOf = (index: number) => `pw-palette-${index}`
const keyOf = ({ kind, href, label }: PaletteEntry) => `${kind} ${href} ${label}`

export function Palette({ opened, close }: { opened: boolean; close: () => void }) {
  const { t } = useTranslation()
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('palette.title')}
      closeButtonProps={{ 'aria-label': t('ui.closeDialog') }}
      // In the centre, results that come later would move those that are there.
      centered={false}
      yOffset="10vh"
    >
      {opened ? <Search close={close} /> : null}
    </Modal>
  )
}

function Search({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const router = useRouter()
  const [text, setText] = useState('')
  const [chosen, choose] = useState<string>()
  const entries = usePaletteEntries(text)
  const found = entries.findIndex(entry => keyOf(entry) === chosen)
  const active = found >= 0 || entries.length === 0 ? found : 0
  const activeKey = entries[active] && keyOf(entries[active])
  // What arrives later must not change what Enter opens.
  useEffect(() => choose(activeKey), [activeKey])
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector(`#${idOf(active)}`)?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const open = (entry: PaletteEntry | undefined) => {
    if (!entry) return
    // Gone before the address changes: Ctrl-K on the next page opens another one.
    flushSync(close)
    router.history.push(entry.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined && event.key !== 'Enter') return
    // Enter chooses a word of an input method first.
    if (event.nativeEvent.isComposing) return
    event.preventDefault()
    if (step === undefined) open(entries[active])
    else {
      const next = entries[(active + step + entries.length) % entries.length]
      if (next) choose(keyOf(next))
    }
  }
  return (
    <>
      <TextInput
        data-autofocus
        role="combobox"
        aria-label={t('palette.label')}
        aria-expanded
        aria-controls={LIST}
        aria-activedescendant={active >= 0 ? idOf(active) : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder={t('palette.hint')}
        leftSection={<IconSearch size={16} />}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value)
          choose(undefined)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={LIST} role="listbox" aria-label={t('palette.title')} className="pw-palette" ref={list}>
        {entries.map((entry, index) => {
          const Icon = ICONS[entry.kind]
          return (
            // The keyboard stays in the field above, which names the active option.
            // biome-ignore lint/a11y/useKeyWithClickEvents: see above
            // biome-ignore lint/a11y/useFocusableInteractive: see above
            <div
              key={keyOf(entry)}
              id={idOf(index)}
              role="option"
              aria-selected={index === active}
              className="pw-palette-entry"
              onClick={() => open(entry)}
            >
              <Icon size={16} className="pw-palette-icon" aria-hidden />
              <span className="pw-palette-text">
                {entry.label}
                {entry.hint ? <span className="pw-sub">{entry.hint}</span> : null}
              </span>
              <span className="pw-more">{t(`palette.kinds.${entry.kind}`)}</span>
            </div>
          )
        })}
      </div>
      <div role="status" className={entries.length > 0 ? 'pw-hidden' : 'pw-sub'}>
        {t('palette.found', { count: entries.length })}
      </div>
    </>
  )
}
