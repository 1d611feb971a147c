/** Code examples with the user's domain, token and SMTP login: the snippets that docs/quickstarts shows and tests run. */
import { Tabs } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from '../ui/values/code-block.tsx'
import { renderSnippet, type SnippetValues } from './render-snippet.ts'
import curl from './snippets/curl.sh?raw'
import go from './snippets/go-smtp.go?raw'
import node from './snippets/node-fetch.mjs?raw'
import php from './snippets/php-phpmailer.php?raw'
import python from './snippets/python-smtplib.py?raw'
import java from './snippets/Quickstart.java?raw'
import ruby from './snippets/ruby-net-smtp.rb?raw'
import smtp from './snippets/swaks.sh?raw'

/** In the order of the tabs: file and text. */
const SNIPPETS = {
  curl: ['curl.sh', curl],
  node: ['node-fetch.mjs', node],
  python: ['python-smtplib.py', python],
  go: ['go-smtp.go', go],
  php: ['php-phpmailer.php', php],
  java: ['Quickstart.java', java],
  ruby: ['ruby-net-smtp.rb', ruby],
  smtp: ['swaks.sh', smtp],
} as const

type Language = keyof typeof SNIPPETS

const LANGUAGES = Object.keys(SNIPPETS) as Language[]
/** The others send over HTTP, with a token. */
const SMTP_LANGUAGES: readonly Language[] = ['python', 'go', 'php', 'java', 'ruby', 'smtp']

/** `smtpOnly`: only the examples that use an SMTP login. */
export function CodeExamples({ values, smtpOnly = false }: { values: SnippetValues; smtpOnly?: boolean }) {
  const { t } = useTranslation()
  const languages = smtpOnly ? SMTP_LANGUAGES : LANGUAGES
  return (
    <Tabs defaultValue={smtpOnly ? 'smtp' : 'curl'} keepMounted={false}>
      <Tabs.List mb="md">
        {languages.map(language => (
          <Tabs.Tab key={language} value={language}>
            {t(`start.tab.${language}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {languages.map(language => {
        const [file, text] = SNIPPETS[language]
        return (
          <Tabs.Panel key={language} value={language}>
            <CodeBlock text={renderSnippet(file, text, values).trimEnd()} what={t(`start.tab.${language}`)} />
          </Tabs.Panel>
        )
      })}
    </Tabs>
  )
}
