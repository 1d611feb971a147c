/** Code examples with the user's domain, token and SMTP login: the snippets that docs/quickstarts shows and tests run. */
import { Tabs } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from '../ui/values/code-block.tsx'
import { renderSnippet, type SnippetValues } from './render-snippet.ts'
import curl from './snippets/curl.sh?raw'
import curlSmtp from './snippets/curl-smtp.sh?raw'
import go from './snippets/go-smtp.go?raw'
import node from './snippets/node-fetch.mjs?raw'
import nodemailer from './snippets/node-nodemailer.mjs?raw'
import php from './snippets/php-phpmailer.php?raw'
import python from './snippets/python-smtplib.py?raw'
import java from './snippets/Quickstart.java?raw'
import ruby from './snippets/ruby-net-smtp.rb?raw'
import smtp from './snippets/swaks.sh?raw'

const LANGUAGES = ['curl', 'node', 'python', 'go', 'php', 'java', 'ruby', 'smtp'] as const

type Snippets = Readonly<Record<(typeof LANGUAGES)[number], readonly [file: string, text: string]>>

/** With an SMTP login. */
const SMTP: Snippets = {
  curl: ['curl-smtp.sh', curlSmtp],
  node: ['node-nodemailer.mjs', nodemailer],
  python: ['python-smtplib.py', python],
  go: ['go-smtp.go', go],
  php: ['php-phpmailer.php', php],
  java: ['Quickstart.java', java],
  ruby: ['ruby-net-smtp.rb', ruby],
  smtp: ['swaks.sh', smtp],
}

/** Over HTTP with a token where no library is needed, else with an SMTP login. */
const EASIEST: Snippets = { ...SMTP, curl: ['curl.sh', curl], node: ['node-fetch.mjs', node] }

/** `smtpOnly`: only examples that use an SMTP login. */
export function CodeExamples({ values, smtpOnly = false }: { values: SnippetValues; smtpOnly?: boolean }) {
  const { t } = useTranslation()
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="md">
        {LANGUAGES.map(language => (
          <Tabs.Tab key={language} value={language}>
            {t(`start.tab.${language}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {LANGUAGES.map(language => {
        const [file, text] = (smtpOnly ? SMTP : EASIEST)[language]
        return (
          <Tabs.Panel key={language} value={language}>
            <CodeBlock text={renderSnippet(file, text, values).trimEnd()} what={t(`start.tab.${language}`)} />
          </Tabs.Panel>
        )
      })}
    </Tabs>
  )
}
