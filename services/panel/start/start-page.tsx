/** Getting-started guide; steps are marked as complete by the state of the account. */
import { Button, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddDomain } from '../mail/domains/domains-page.tsx'
import { SendForm } from '../mail/send/send-page.tsx'
import { useTrial } from '../session/session.ts'
import { LoadingRows } from '../ui/feedback/content-states.tsx'
import { Note } from '../ui/feedback/status-badge.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { AccessStep } from './access-step.tsx'
import { CodeExamples } from './code-examples.tsx'
import { STEPS, type Step } from './start-steps.ts'
import { useStartProgress } from './use-start-progress.ts'

export function StartPage() {
  const { t } = useTranslation()
  const progress = useStartProgress()
  const [chosen, choose] = useState<Step>()
  const [token, setToken] = useState<string>()
  const active = chosen ?? progress?.next ?? 'arrive'
  return (
    <Page title={t('start.title')} lead={t('start.lead')}>
      <Card>{progress ? <StepList done={progress.done} active={active} choose={choose} /> : <LoadingRows />}</Card>
      {progress ? (
        <Card title={t(`start.step.${active}`)}>
          <StepBody step={active} domain={progress.domain} token={token} setToken={setToken} done={progress.done} />
        </Card>
      ) : null}
      <Card title={t('start.examples')}>
        <CodeExamples domain={progress?.domain} token={token} />
      </Card>
    </Page>
  )
}

function StepList(props: { done: ReadonlySet<Step>; active: Step; choose: (step: Step) => void }) {
  const { t } = useTranslation()
  return (
    <ol className="pw-steps">
      {STEPS.map((step, index) => (
        <li key={step}>
          <UnstyledButton
            className="pw-step"
            aria-current={step === props.active ? 'step' : undefined}
            onClick={() => props.choose(step)}
          >
            <span className="pw-step-mark" data-done={props.done.has(step) || undefined}>
              {props.done.has(step) ? <IconCheck size={16} aria-label={t('start.done')} /> : index + 1}
            </span>
            <span>
              <span className="pw-step-name">{t(`start.step.${step}`)}</span>
              <span className="pw-sub">{t(`start.hint.${step}`)}</span>
            </span>
          </UnstyledButton>
        </li>
      ))}
    </ol>
  )
}

function StepBody(props: {
  step: Step
  domain: string | undefined
  token: string | undefined
  setToken: (token: string) => void
  done: ReadonlySet<Step>
}) {
  const { domain, token, setToken, done } = props
  const bodies: Record<Step, () => ReactNode> = {
    domain: () => (
      <div className="pw-form">
        <AddDomain />
      </div>
    ),
    verify: () => <VerifyStep domain={domain} verified={done.has('verify')} />,
    access: () => <AccessStep token={token} setToken={setToken} />,
    send: () => <SendForm key={domain ?? ''} from={domain ? `hello@${domain}` : ''} />,
    arrive: () => <ArriveStep arrived={done.has('arrive')} />,
  }
  return bodies[props.step]()
}

function VerifyStep({ domain, verified }: { domain: string | undefined; verified: boolean }) {
  const { t } = useTranslation()
  if (!domain) return <Text fz="sm">{t('start.domainFirst')}</Text>
  return (
    <Stack gap="md">
      {verified ? <Note tone="ok">{t('start.verified', { domain })}</Note> : null}
      <Text fz="sm">{t('start.verifyText', { domain })}</Text>
      <Group>
        <Button renderRoot={rest => <Link {...rest} to="/domains/$id" params={{ id: domain }} />}>
          {t('start.openDomain')}
        </Button>
      </Group>
    </Stack>
  )
}

function ArriveStep({ arrived }: { arrived: boolean }) {
  const { t } = useTranslation()
  const trial = useTrial()
  return (
    <Stack gap="md">
      <Note tone={arrived ? 'ok' : 'info'}>{t(arrived ? 'start.arrived' : 'start.notArrived')}</Note>
      <Group>
        <Button renderRoot={rest => <Link {...rest} to="/messages" />}>{t('start.openLog')}</Button>
        {trial ? (
          <Button variant="default" renderRoot={rest => <Link {...rest} to="/inbox" />}>
            {t('nav.inbox')}
          </Button>
        ) : null}
      </Group>
    </Stack>
  )
}
