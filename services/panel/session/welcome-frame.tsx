/** Frame of the pages without a session: logo, language, colour scheme, and a card with a heading. */
import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import type { Language } from '../state/preferences.ts'
import { ColorSchemeButton, LanguageMenu } from '../ui/layout/appearance-controls.tsx'
import { Logo } from '../ui/layout/logo.tsx'

/** `name`: of the document. `onLanguage`: receives a language that was chosen here. */
export function WelcomeFrame(props: {
  name: string
  title: string
  lead: ReactNode
  onLanguage?: (language: Language) => void
  children: ReactNode
}) {
  useDocumentTitle(`${props.name} · Postwright`)
  return (
    <main className="pw-welcome">
      <div className="pw-card pw-sign-in">
        <Stack gap="lg">
          <Group justify="space-between">
            <Logo />
            <Group gap={2}>
              <LanguageMenu onChange={props.onLanguage ?? (() => undefined)} />
              <ColorSchemeButton />
            </Group>
          </Group>
          <div>
            <Title order={1} fz={24}>
              {props.title}
            </Title>
            <Text c="dimmed" fz="sm" mt={4}>
              {props.lead}
            </Text>
          </div>
          {props.children}
        </Stack>
      </div>
    </main>
  )
}
