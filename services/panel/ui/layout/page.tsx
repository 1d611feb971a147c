/** Page and card layout. */
import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export function Page(props: {
  title: string
  /** In the title of the document; by default `title`. */
  name?: string | undefined
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  useDocumentTitle(`${props.name ?? props.title} · Postwright`)
  return (
    <Stack gap="lg" maw={1180} mx="auto" w="100%">
      <Group justify="space-between" align="flex-end" gap="md">
        <Box style={{ flex: '1 1 320px' }}>
          <Title order={1} fz={26}>
            {props.title}
          </Title>
          {props.lead ? (
            <Text c="dimmed" mt={4} fz="sm" maw={720} component="div">
              {props.lead}
            </Text>
          ) : null}
        </Box>
        {props.actions ? <Group gap="xs">{props.actions}</Group> : null}
      </Group>
      {props.children}
    </Stack>
  )
}

/** `flush` omits the padding, for tables. */
export function Card(props: { title?: string; aside?: ReactNode; children: ReactNode; flush?: boolean }) {
  return (
    <section className="pw-card" aria-label={props.title}>
      {props.title ? (
        <Group justify="space-between" px="md" pt="md" pb={props.flush ? 'sm' : 0} gap="xs">
          <Title order={2} fz="md">
            {props.title}
          </Title>
          {props.aside}
        </Group>
      ) : null}
      <Box p={props.flush ? 0 : 'md'}>{props.children}</Box>
    </section>
  )
}
